/** The layout of brackets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bracketSides, lastColumns, leadsTo, type BracketColumn } from '../src/pages/bracket-layout';
import { winnerOf } from '../src/pages/contest-words';

type Side = 'winners' | 'losers' | 'final';
const meeting = (round: number, side: Side, slot: number, slots: number) => ({
  key: `${round}.${slot}`, round, group: null, bots: ['a', 'b'], scores: [1, 0], games: [], winner: null, place: { side, slot, slots },
});
const bye = (bot: string, round: number, side: Side, slot: number, slots: number) => ({ bot, round, place: { side, slot, slots } });
/** A letter for each box: a meeting, a bye, one to come, nobody. */
const shape = (columns: readonly BracketColumn[]) => columns.map(({ boxes }) => boxes.map((box) => (!box ? '-' : box.meeting ? 'm' : box.bots.length ? 'b' : '?')).join(''));

test('rounds have names, and byes have boxes', () => {
  const byes = [bye('c', 1, 'winners', 0, 4), bye('d', 1, 'winners', 3, 4)];
  const [all, ...none] = bracketSides({ format: 'knockout', meetings: [meeting(1, 'winners', 1, 4), meeting(1, 'winners', 2, 4), meeting(2, 'winners', 0, 2)], byes });
  assert.equal(none.length, 0);
  assert.deepEqual(all!.columns.map(({ title }) => title), ['Quarter-finals', 'Semi-finals', 'Final']);
  assert.deepEqual(shape(all!.columns), ['bmmb', 'm-', '?']);
  assert.deepEqual(all!.columns[0]!.boxes[0]!.bots, ['c']);
  assert.deepEqual([leadsTo(all!.columns[0]!, all!.columns[1]), leadsTo(all!.columns[2]!, undefined)], ['pair', 'end']);
});

test('the knockout after groups begins with round 2', () => {
  const [all] = bracketSides({ format: 'groups', meetings: [meeting(2, 'winners', 0, 2), meeting(2, 'winners', 1, 2)], byes: [] });
  assert.deepEqual([shape(all!.columns), all!.columns.map(({ title }) => title)], [['mm', '?'], ['Semi-finals', 'Final']]);
});

test('a double elimination is drawn to its grand final from the first round on', () => {
  const first = [0, 1, 2, 3].map((slot) => meeting(1, 'winners', slot, 4));
  const sides = bracketSides({ format: 'double-elimination', meetings: first, byes: [] });
  assert.deepEqual(sides.map(({ side, columns }) => [side, ...shape(columns)]), [['winners', 'mmmm', '??', '?'], ['losers', '??', '??', '?', '?'], ['final', '?']]);
  assert.deepEqual(sides[1]!.columns.map(({ title }) => title), ['Losers’ round 1', 'Losers’ round 2', 'Losers’ round 3', 'Losers’ final']);
  assert.equal(leadsTo(sides[1]!.columns[0]!, sides[1]!.columns[1]), 'same');
});

test('a final that is played again has a second box', () => {
  const meetings = [meeting(1, 'winners', 0, 2), meeting(1, 'winners', 1, 2), meeting(2, 'winners', 0, 1), meeting(2, 'losers', 0, 1), meeting(3, 'losers', 0, 1), meeting(4, 'final', 0, 1), meeting(5, 'final', 0, 1)];
  const sides = bracketSides({ format: 'double-elimination', meetings, byes: [] });
  assert.deepEqual(sides.map(({ columns }) => shape(columns)), [['mm', 'm'], ['m', 'm'], ['m', 'm']]);
  const two = bracketSides({ format: 'double-elimination', meetings: [meeting(1, 'winners', 0, 1)], byes: [] });
  assert.deepEqual(two.map(({ columns }) => shape(columns)), [['m'], [], ['?']]);
});

test('nothing is drawn before the first round', () => {
  assert.deepEqual(bracketSides({ format: 'knockout', meetings: [], byes: [] }), []);
});

test('a screen in a hall shows the last rounds, once somebody has come that far', () => {
  const meetings = Array.from({ length: 16 }, (_, slot) => meeting(1, 'winners', slot, 16));
  const columns = (more: typeof meetings) => bracketSides({ format: 'knockout', meetings: [...meetings, ...more], byes: [] })[0]!.columns;
  assert.equal(lastColumns(columns([]), 8), null);
  assert.deepEqual(lastColumns(columns([meeting(2, 'winners', 0, 8)]), 8)!.map(({ title }) => title), ['Round of 16', 'Quarter-finals', 'Semi-finals', 'Final']);
});

test('a meeting has a winner when it is decided', () => {
  const game = { key: '1.1.1', bots: ['a', 'b'], result: null };
  const won = (scores: number[], games: (typeof game)[], winner: string | null = null) => winnerOf({ bots: ['a', 'b'], scores, games, winner });
  assert.deepEqual([won([1, 0], []), won([1, 0], [game]), won([1, 1], []), won([1, 1], [], 'b')], ['a', null, null, 'b']);
});
