/** The layout of brackets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bracketSides, leadsTo } from '../src/pages/bracket-layout';
import { winnerOf } from '../src/pages/contest-words';

const meeting = (round: number, side: 'winners' | 'losers' | 'final', slot: number, slots: number) => ({
  key: `${round}.${slot}`, round, group: null, bots: ['a', 'b'], scores: [1, 0], games: [], winner: null, place: { side, slot, slots },
});

test('byes leave gaps, and the winners go on to one meeting', () => {
  const sides = bracketSides([meeting(1, 'winners', 1, 4), meeting(1, 'winners', 2, 4), meeting(2, 'winners', 0, 2)]);
  assert.equal(sides.length, 1);
  const [first, second, third] = sides[0]!.columns;
  assert.deepEqual(first!.cards.map((card) => card?.key), [undefined, '1.1', '1.2', undefined]);
  assert.deepEqual([second!.cards.length, third!.cards.length, third!.round], [2, 1, null]);
  assert.deepEqual([leadsTo(first!, second), leadsTo(third!, undefined)], ['pair', 'end']);
});

test('a double elimination has two sides and a final', () => {
  const sides = bracketSides([meeting(1, 'winners', 0, 1), meeting(2, 'losers', 0, 1), meeting(3, 'losers', 0, 1), meeting(4, 'final', 0, 1)]);
  assert.deepEqual(sides.map(({ side, columns }) => [side, columns.length]), [['winners', 1], ['losers', 2], ['final', 1]]);
  assert.equal(leadsTo(sides[1]!.columns[0]!, sides[1]!.columns[1]), 'same');
});

test('a meeting has a winner when it is decided', () => {
  const game = { key: '1.1.1', bots: ['a', 'b'], result: null };
  const won = (scores: number[], games: (typeof game)[], winner: string | null = null) => winnerOf({ bots: ['a', 'b'], scores, games, winner });
  assert.deepEqual([won([1, 0], []), won([1, 0], [game]), won([1, 1], []), won([1, 1], [], 'b')], ['a', null, null, 'b']);
});
