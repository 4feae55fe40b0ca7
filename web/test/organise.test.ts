/** The scores of games in a row, and what forms make of the server's settings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostOf } from '../src/pages/organise-address';
import { setupIn, startSetup } from '../src/pages/organise-cube-fields';
import { inWords, plotted, summaries } from '../src/pages/organise-scores';

const RESULTS = [
  { match: 'a', result: 'WINNER_FOUND', winner: 'Ann', scores: { Ann: 10, Bob: 4 } },
  { match: 'b', result: 'TIE', winner: null, scores: { Ann: 6, Bob: 6 } },
  { match: 'c', result: 'WINNER_FOUND', winner: 'Bob', scores: { Ann: 2, Bob: 9 } },
  { match: 'd', result: 'WINNER_FOUND', winner: 'Bob', scores: { Ann: 2, Bob: 5 } },
];

test('players are summed up, the one with most games won first', () => {
  assert.deepEqual(summaries(RESULTS, ['Ann', 'Bob']), [
    { name: 'Bob', won: 2, mean: 6, best: 9 },
    { name: 'Ann', won: 1, mean: 5, best: 10 },
  ]);
  assert.deepEqual(summaries([], ['Ann']), [{ name: 'Ann', won: 0, mean: 0, best: 0 }]);
});

test('a plot has the numbers of the games and a line for each player', () => {
  assert.deepEqual(plotted(RESULTS.slice(0, 2), ['Ann', 'Cid']), [[1, 2], [10, 6], [null, null]]);
});

test('a plot is told in words', () => {
  assert.equal(inWords(summaries(RESULTS.slice(0, 1), ['Ann', 'Bob']), 1), 'Scores over 1 game. Ann: 1 won, 10.0 on average; Bob: 0 won, 4.0 on average');
});

test('a setup is read from what the server says', () => {
  assert.deepEqual(setupIn({ edgeLength: '12', speed: 5 }), { ...startSetup, edgeLength: 12, speed: 5 });
});

test('the address of a bot that is called goes without its port', () => {
  assert.equal(hostOf('127.0.0.1'), '127.0.0.1');
  assert.equal(hostOf('127.0.0.1:8080'), '127.0.0.1');
  assert.equal(hostOf('[2001:db8::1]:8080'), '2001:db8::1');
  assert.equal(hostOf('2001:db8::1'), '2001:db8::1');
});
