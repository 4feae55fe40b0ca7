import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesIn, describe, gridOf, inline, isBlank, moveInWords, movesByCell, outlineOf, placeIn, scores, titleOf } from '../src/renderers/generic_view';

const SEATS = [{ player: 0, name: 'ada' }, { player: 1, name: 'bob' }];

test('strings of signs and lists of short values are grids; names, places and scores are not', () => {
  assert.deepEqual(gridOf(['.X.', '...', 'O..']), [['.', 'X', '.'], ['.', '.', '.'], ['O', '.', '.']]);
  assert.deepEqual(gridOf([[1, 1, 1], [1, 0, 2, 1], [null, 1, 1]]), [['1', '1', '1'], ['1', '0', '2', '1'], [null, '1', '1']]);
  assert.deepEqual(gridOf([['', 'X', ''], ['', '', '']]), [['', 'X', ''], ['', '', '']]);
  for (const other of [['ada', 'bob', 'eve'], [[0, 1], [2, 3]], [1, 2], 'abc', [], null, [['long', 'words', 'here'], ['more', 'of', 'them']]]) {
    assert.equal(gridOf(other), null, JSON.stringify(other));
  }
});

test('empty cells are blank, and so is 0 among numbers', () => {
  assert.ok(isBlank('.', [['.']]) && isBlank(null, [[null]]) && isBlank('0', [['0', '1']]));
  assert.ok(!isBlank('0', [['0', '.']]) && !isBlank('X', [['X']]));
});

test('a view is sorted into facts, values by seat, grids, and the rest', () => {
  const outline = outlineOf({
    you: 1, toMove: [0, 1], round: 3, line: null, scores: [1, 2], placed: [true, false], last: [3, 4], thrown: { rock: 2 },
    users: [{ seat: 0, at: [0, 0] }, { seat: 1, at: null }], boards: [['..X', '...', '...'], ['...', '...', '...']],
  }, SEATS);
  assert.deepEqual(outline.facts, [['You are', 'bob'], ['To move', 'ada, bob'], ['Round', '3']]);
  assert.deepEqual(outline.bySeat, [['Scores', [1, 2]], ['Placed', [true, false]], ['At', [[0, 0], null]]]);
  assert.deepEqual(outline.grids.map(({ title, path }) => [title, path]), [['Boards: ada', 'boards.0'], ['Boards: bob', 'boards.1']]);
  assert.deepEqual(outline.rest, [['Last', [3, 4]], ['Thrown', { rock: 2 }]]);
});

test('keys become titles, and values one line', () => {
  assert.equal(titleOf('winLength'), 'Win length');
  assert.equal(titleOf('bombs_left'), 'Bombs left');
  assert.equal(inline({ at: [1, 2], alive: true, name: null }), 'at (1, 2), alive yes, name –');
  assert.equal(inline({ MiaBee: 'UL' }), 'MiaBee UL');
  assert.equal(inline([]), 'none');
  assert.match(inline(Array.from({ length: 50 }, (_, i) => i)), /39, and 10 more$/);
});

test('a position in words has every value', () => {
  assert.equal(
    describe({ you: null, toMove: [], scores: [1, 0], board: [['X', '', ''], ['', 'O', '']], last: [1, 1] }, SEATS),
    'To move: nobody. Scores: ada 1, bob 0. Board, row by row: X . . / . O .. Last: 1, 1.',
  );
});

test('scores are numbers under their usual names', () => {
  assert.deepEqual(scores({ scores: [1, 2] }), [1, 2]);
  assert.deepEqual(scores({ score: [0] }), [0]);
  assert.equal(scores({ scores: 'x' }), null);
  assert.equal(scores({}), null);
});

test('moves lose their brackets', () => {
  assert.equal(moveInWords({ throw: 'rock' }), 'rock');
  assert.equal(moveInWords({ mark: 'X', space: [0, 1] }), 'mark X, space (0, 1)');
  assert.equal(moveInWords('UP'), 'UP');
  assert.equal(moveInWords([1, 2]), '1, 2');
  assert.equal(moveInWords({}), 'none');
});

test('a move that speaks of one cell has that place', () => {
  assert.deepEqual(placeIn({ mark: 'X', space: [0, 1] }), [0, 1]);
  assert.deepEqual(placeIn({ x: 3, y: 5 }), [5, 3]);
  assert.deepEqual(placeIn({ row: 2, column: 1 }), [2, 1]);
  assert.equal(placeIn({ from: [0, 0], to: [1, 1] }), null);
  assert.equal(placeIn('UP'), null);
});

test('cells can be chosen if every move has a cell of its own', () => {
  const grid = [['', '', ''], ['', '', '']];
  const moves = [{ space: [0, 0] }, { space: [1, 2] }];
  assert.deepEqual([...movesByCell(moves, grid)!], [['0,0', moves[0]], ['1,2', moves[1]]]);
  assert.equal(movesByCell([...moves, { space: [0, 0] }], grid), null, 'two moves for one cell');
  assert.equal(movesByCell([{ space: [2, 0] }], grid), null, 'beside the grid');
  assert.equal(movesByCell(['pass'], grid), null);
  assert.equal(movesByCell([], grid), null);
});

test('changed cells are those of a grid of the same size', () => {
  assert.deepEqual(changesIn([['a', 'b'], ['c', 'd']], [['a', 'x'], ['c', 'd']]), [[0, 1]]);
  assert.deepEqual(changesIn([['a']], null), []);
  assert.deepEqual(changesIn([['a']], [['b'], ['c']]), []);
});
