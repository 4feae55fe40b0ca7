/** Contests with a document, in words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entryHint, entryRules, faultWords, points, resultWords, roundTitle } from '../src/pages/contest-words';
import { lineIn } from '../src/pages/organise-document';

const round = (number: number, meetings: number, byes: string[] = []) => ({ number, meetings, byes, fixtures: [], games: meetings, played: 0 });
const match = (bots: string[], places: number[], more = {}) => ({ key: '1.1.1', bots, result: { places, absent: [], crashed: [], match: '', fingerprint: 0, ...more } });

test('rounds of a knockout are called by their stage', () => {
  const title = (format: string, one: ReturnType<typeof round>, players = 2) => roundTitle({ format, players }, one, round(1, 4));
  assert.equal(title('knockout', round(1, 1, ['a', 'b', 'c'])), 'Round 1: quarter-finals');
  assert.equal(title('knockout', round(1, 1, ['a'])), 'Round 1: semi-finals');
  assert.equal(title('knockout', round(1, 16)), 'Round 1: round of 32');
  assert.equal(title('groups', round(1, 8)), 'Round 1: group stage');
  assert.equal(title('groups', round(3, 1)), 'Round 3: final');
  assert.equal(title('knockout', round(2, 2), 4), 'Round 2');
  assert.equal(title('swiss', round(2, 2)), 'Round 2');
});

test('rounds of a double elimination are called by both brackets', () => {
  const title = (number: number) => roundTitle({ format: 'double-elimination' }, round(number, 2), round(1, 3, ['a', 'b']));
  assert.deepEqual([1, 2, 3, 5, 6, 7].map(title), [
    'Round 1: winners’ quarter-finals', 'Round 2: winners’ semi-finals, losers’ round 1', 'Round 3: winners’ final, losers’ round 2',
    'Round 5: losers’ final', 'Round 6: grand final', 'Round 7: grand final, played again',
  ]);
});

test('the front page says how bots enter', () => {
  assert.equal(entryHint({ state: 'open', entry: 'open', late: false }), 'enter a bot');
  assert.equal(entryHint({ state: 'paused', entry: 'password', late: true }), 'enter with its password');
  assert.equal(entryHint({ state: 'open', entry: 'list', late: false }), 'bots on its list can enter');
  assert.deepEqual([entryHint({ state: 'running', entry: 'open', late: false }), entryHint({ state: 'over', entry: 'open', late: true })], ['', '']);
});

test('points have halves', () => {
  assert.deepEqual([0, 0.5, 1, 1.5, 2 / 3].map(points), ['0', '½', '1', '1½', '0.67']);
});

test('a result is told in the order of the meeting', () => {
  assert.equal(resultWords(match(['a', 'b'], [1, 2]), ['a', 'b']), '1–0');
  assert.equal(resultWords(match(['b', 'a'], [1, 2]), ['a', 'b']), '0–1');
  assert.equal(resultWords(match(['b', 'a'], [1, 1]), ['a', 'b']), '½–½');
  assert.equal(resultWords(match(['a', 'b', 'c'], [2, 1, 3]), ['a', 'b', 'c']), 'b');
  assert.equal(resultWords(match(['a', 'b', 'c'], [1, 1, 3]), ['a', 'b', 'c']), 'draw of 2');
  assert.equal(resultWords(match(['a', 'b'], []), ['a', 'b']), 'not counted');
  assert.equal(resultWords({ key: '1.1.1', bots: ['a', 'b'], result: null }, ['a', 'b']), 'to play');
  assert.equal(resultWords({ key: '1.1.1', bots: ['a', 'b'], result: null }, ['a', 'b'], true), 'not played');
});

test('bots that did not come or crashed are named', () => {
  assert.equal(faultWords(match(['a', 'b'], [2, 1], { absent: [0], crashed: [1] })), 'no-show: a; crash: b');
});

test('the rules of entry are sentences', () => {
  assert.deepEqual(entryRules({ format: 'swiss' }), ['Any registered bot of the game may enter.']);
  assert.deepEqual(entryRules({ format: 'swiss', entry: { kind: 'list', bots: ['a', 'b'], per_owner: 1, most: 8, late: true } }), [
    'Only these bots may enter: a, b.', 'An owner may enter one bot.', 'There is room for 8 bots.', 'Bots may enter after the start.',
  ]);
});

test('an error leads to its line', () => {
  assert.equal(lineIn('line 4: games: a whole number'), 4);
  assert.equal(lineIn('there is a contest already'), null);
});
