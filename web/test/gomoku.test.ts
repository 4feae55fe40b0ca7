import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describe, marks, moveInWords, nameOf, starsOf, type GomokuView } from '../src/renderers/gomoku';

const SEATS = [{ player: 1, name: 'bob' }, { player: 0, name: 'ada' }];
const VIEW: GomokuView = {
  you: null,
  toMove: [1],
  size: 7,
  winLength: 4,
  board: ['.......', '.......', '..O....', '...X...', '...X...', '.......', '.......'],
  moves: [[3, 3], [2, 2], [3, 4]],
  line: null,
};

test('crossings have the usual names: columns from the left, rows from the bottom', () => {
  assert.equal(nameOf([0, 14], 15), 'a1');
  assert.equal(nameOf([7, 7], 15), 'h8');
  assert.equal(nameOf([14, 0], 15), 'o15');
  assert.equal(moveInWords({ x: 5, y: 2 }, VIEW), 'f5');
});

test('the position is told by the stones of each player and the last move', () => {
  assert.equal(
    describe(VIEW, SEATS),
    'Board of 7 by 7; 4 in a row win. Dark stones of bob: d4, d3. Light stones of ada: c5. The last move was d3. ada is to move.',
  );
});

test('an empty board has no last move', () => {
  const empty = { ...VIEW, toMove: [0], board: Array<string>(7).fill('.......'), moves: [] };
  assert.equal(
    describe(empty, []),
    'Board of 7 by 7; 4 in a row win. Dark stones of seat 0: none. Light stones of seat 1: none. seat 0 is to move.',
  );
});

test('the winning row is told by its ends, and a board without one is told', () => {
  const won: GomokuView = { ...VIEW, toMove: [], line: [[3, 3], [3, 4]] };
  assert.match(describe(won, SEATS), /bob has won with the row from d4 to d3\.$/);
  assert.deepEqual(marks(won, VIEW, SEATS).map(({ words }) => words), ['bob has 2 in a row, from d4 to d3']);
  assert.deepEqual([...marks(won, won, SEATS), ...marks(VIEW, VIEW, SEATS)], []);
  assert.match(describe({ ...VIEW, toMove: [] }, SEATS), /The board is over without a row\.$/);
});

test('stars are where they usually are', () => {
  assert.deepEqual(starsOf(15), [[3, 3], [11, 3], [3, 11], [11, 11], [7, 7]]);
  assert.deepEqual(starsOf(7), [[3, 3]]);
  assert.equal(starsOf(19).length, 9);
  assert.equal(starsOf(12).length, 4);
  assert.deepEqual(starsOf(6), []);
});
