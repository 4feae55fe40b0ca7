import assert from 'node:assert/strict';
import { test } from 'node:test';
import { walked } from '../src/renderers/cells';
import { describe, marked, marks, moveInWords, wonLines, type NoughtsView } from '../src/renderers/noughts_and_crosses';

const SEATS = [{ player: 0, name: 'ada' }, { player: 1, name: 'bob' }];

function view(text: string, toMove: number[] = [0]): NoughtsView {
  const board = text.split('/').map((row) => [...row].map((mark) => (mark === '.' ? '' : mark)));
  return { you: null, toMove, marks: ['X', 'O'], board };
}

test('the position is told row by row, with the player to move', () => {
  assert.equal(
    describe(view('X.O/.../..X', [1]), SEATS),
    'Row 1: X, empty, O. Row 2: empty, empty, empty. Row 3: empty, empty, X. bob (O) is to move.',
  );
});

test('the winner is named, and so is a draw', () => {
  assert.match(describe(view('OX./OX./O.X', []), SEATS), /bob \(O\) has won\.$/);
  assert.match(describe(view('XOX/XOO/OXX', []), SEATS), /The game is drawn\.$/);
});

test('the line that wins is marked once', () => {
  const [won, before] = [view('OX./OX./O.X', []), view('OX./OX./..X')];
  assert.deepEqual(marks(won, before, SEATS), [{ kind: 'capture', words: 'bob has three in a row, from row 1, column 1 to row 3, column 1', player: 1 }]);
  assert.deepEqual([...marks(won, won, SEATS), ...marks(before, before, SEATS)], []);
});

test('a name that is not known is that of the seat', () => {
  assert.match(describe(view('.../.../...'), []), /seat 0 \(X\) is to move/);
});

test('lines are found in all directions, also two at once', () => {
  assert.deepEqual(wonLines(view('..O/.O./O..')), [[[0, 2], [1, 1], [2, 0]]]);
  assert.equal(wonLines(view('XXX/XOO/XOO')).length, 2);
  assert.deepEqual(wonLines(view('XX./OO./...')), []);
});

test('what was marked is found by the position before', () => {
  assert.deepEqual(marked(view('X../.O./...'), view('X../.../...')), [[1, 1]]);
  assert.deepEqual(marked(view('X../.O./...'), null), []);
});

test('a move is told by its row and column, counted from 1', () => {
  assert.equal(moveInWords({ mark: 'O', space: [1, 2] }), 'O at row 2, column 3');
});

test('keys walk over the squares of a board and stay on it', () => {
  assert.deepEqual(walked('ArrowRight', [1, 1], 3, 3), [2, 1]);
  assert.deepEqual(walked('ArrowRight', [2, 1], 3, 3), [2, 1]);
  assert.deepEqual(walked('ArrowUp', [1, 0], 3, 3), [1, 0]);
  assert.deepEqual(walked('End', [0, 2], 5, 3), [4, 2]);
  assert.deepEqual(walked('PageDown', [0, 0], 5, 3), [0, 2]);
  assert.equal(walked('x', [0, 0], 3, 3), null);
});
