import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columnsFor } from '../src/renderers/battleship';
import { arcOf } from '../src/renderers/battleship_arrow';
import { describe, lastShot, marks, moveInWords, silent, squareName, type BattleshipView } from '../src/renderers/battleship_words';

const SEATS = [{ player: 1, name: 'bob' }, { player: 0, name: 'ada' }];
const VIEW: BattleshipView = {
  you: null,
  toMove: [1],
  phase: 'shooting',
  width: 5,
  height: 5,
  boats: ['A3', 'B2'],
  goal: 5,
  round: 2,
  rounds: 1000,
  boards: [['X....', '.0...', '.....', '.....', '.....'], ['.....', '..0.X', '....X', '.....', '.....']],
  own: null,
  fleets: null,
  placed: [true, true],
  scores: [2, 1],
  skips: [0, 0],
  turns: [3, 2],
  last: { shooter: 0, target: 1, x: 4, y: 1, hit: true },
};
const BEFORE: BattleshipView = { ...VIEW, toMove: [0], turns: [2, 2], last: { shooter: 1, target: 0, x: 1, y: 1, hit: false } };

test('squares have letters from the left and numbers from the top', () => {
  assert.equal(squareName(0, 0), 'a1');
  assert.equal(squareName(25, 11), 'z12');
});

test('the position is told board by board, with the last shot and the player to shoot', () => {
  assert.equal(describe(VIEW, SEATS), [
    'Boards of 5 by 5, boats A3, B2.',
    'bob has scored 2 hits; on its board 1 of 5 squares with boats are hit (a1), and 1 shot missed.',
    'ada has scored 1 hit; on its board 2 of 5 squares with boats are hit (e2, e3), and 1 shot missed.',
    'The last shot, by bob at e2 of ada, hit.',
    'ada is to shoot. The game ends with the round in which a player has 5 hits.',
  ].join(' '));
});

test('placing, skips and the end are told', () => {
  const placing = { ...VIEW, phase: 'placement' as const, toMove: [0, 1], last: null };
  assert.equal(describe(placing, SEATS), 'Boards of 5 by 5, boats A3, B2. The players place their fleets: bob, ada.');
  assert.match(describe({ ...VIEW, last: { shooter: 1, skip: true } }, SEATS), /ada skipped the last turn\./);
  assert.match(describe({ ...VIEW, phase: 'over', toMove: [] }, SEATS), /The game is over; most hits: bob\.$/);
  assert.match(describe({ ...VIEW, phase: 'over', toMove: [], scores: [2, 2] }, []), /most hits: seat 0, seat 1\.$/);
  assert.doesNotMatch(describe({ ...VIEW, last: null }, SEATS), /last/);
});

test('a hit is a mark of its shooter', () => {
  assert.deepEqual(marks(VIEW, BEFORE, SEATS), [{ kind: 'capture', words: 'bob hits ada at e2', player: 1 }]);
  assert.deepEqual(marks(VIEW, BEFORE, []), [{ kind: 'capture', words: 'seat 0 hits seat 1 at e2' }]);
});

test('misses, skips and steps without a turn are no marks', () => {
  assert.deepEqual(marks({ ...VIEW, last: { shooter: 0, target: 1, x: 2, y: 1, hit: false } }, BEFORE, SEATS), []);
  assert.deepEqual(marks({ ...VIEW, last: { shooter: 0, skip: true } }, BEFORE, SEATS), []);
  assert.deepEqual(marks(VIEW, VIEW, SEATS), []);
});

test('a sunk boat is told once its place is known', () => {
  const fleets = [VIEW.boards[0]!, ['.....', '...bb', '.....', '.....', '.....']];
  const shot = { ...VIEW, boards: [VIEW.boards[0]!, ['.....', '...XX', '.....', '.....', '.....']] };
  assert.equal(marks(shot, BEFORE, SEATS, { ...shot, fleets })[0]?.words, 'bob hits ada at e2 and sinks its boat of 2');
  assert.equal(marks(VIEW, BEFORE, SEATS, { ...VIEW, fleets })[0]?.words, 'bob hits ada at e2');
});

test('the last square of a fleet is a mark of its own', () => {
  const sunk = { ...VIEW, boards: [VIEW.boards[0]!, ['XX...', '....X', '....X', '....X', '.....']] };
  assert.deepEqual(marks(sunk, BEFORE, SEATS)[1], { kind: 'capture', words: 'The whole fleet of ada is sunk', player: 0 });
});

test('moves are told, with their verdict if the position has it', () => {
  assert.equal(moveInWords({ board: '.....' }, VIEW, SEATS), 'places the fleet');
  assert.equal(moveInWords({ skip: true }, VIEW, SEATS), 'skips the turn');
  assert.equal(moveInWords({ x: 4, y: 1 }, VIEW, SEATS), '', 'the mark tells it');
  assert.equal(moveInWords({ target: 1, x: 3, y: 1 }, VIEW, SEATS), 'd2');
  const three = { ...VIEW, boards: [...VIEW.boards, VIEW.boards[0]!], last: { shooter: 0, target: 1, x: 0, y: 3, hit: false } };
  assert.equal(moveInWords({ target: 1, x: 0, y: 3 }, three, SEATS), 'a4 of ada, miss');
});

test('a skipped turn has no shot', () => {
  assert.equal(lastShot({ ...VIEW, last: { shooter: 1, skip: true } }), null);
  assert.equal(lastShot({ ...VIEW, last: null }), null);
  assert.equal(lastShot(VIEW)?.x, 4);
});

test('boards are laid out so that their squares are large', () => {
  const [usual, flat] = [{ width: 10, height: 10 }, { width: 26, height: 12 }];
  assert.equal(columnsFor(2, usual, { width: 700, height: 600 }), 2);
  assert.equal(columnsFor(2, usual, { width: 390, height: 700 }), 1);
  assert.equal(columnsFor(9, usual, { width: 700, height: 700 }), 3);
  assert.equal(columnsFor(2, flat, { width: 700, height: 600 }), 1);
});

test('the arrow begins beside the sign and ends beside the square', () => {
  const { path, end, angle } = arcOf({ from: [0, 0], to: [100, 0] }, [10, 10]);
  assert.match(path, /^M 9\.\d+ -2\.\d+ Q 50 -14\S* 90\.\d+ -2\.\d+$/);
  assert.ok(end[0] > 90 && end[0] < 91);
  assert.ok(angle > 10 && angle < 20);
  assert.match(arcOf({ from: [5, 5], to: [5, 5] }, [1, 1]).path, /^M 5 5 /);
});

test('a turn without a public move says what happened in it', () => {
  assert.equal(silent({ ...VIEW, phase: 'placement', last: null }, SEATS), 'The players place their fleets.');
  assert.equal(silent({ ...VIEW, last: null }, SEATS), 'The fleets are placed.');
  assert.equal(silent(VIEW, SEATS), 'bob hits ada at e2.');
  assert.equal(silent(BEFORE, SEATS), 'ada misses bob at b2.');
  assert.equal(silent({ ...VIEW, last: { shooter: 1, skip: true } }, SEATS), 'ada skips the turn.');
});
