import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describe, lastCells, marks, moveInWords, scoresOf, type CubeView } from '../src/renderers/battlecube_view';

const SEATS = ['ada', 'bob', 'cy', 'dee'].map((name, player) => ({ name, player }));

/** From docs/games/battlecube.md. */
const AFTER: CubeView = {
  you: 1, toMove: [1, 2], edge: 8, tasks: 1, tick: 1, ticks: 1000,
  players: [{ seat: 1, x: 1, y: 3, z: 3 }, { seat: 2, x: 5, y: 5, z: 5 }],
  bombs: [[2, 3, 3]],
  happened: [
    { seat: 0, did: 'move', direction: '+X', x: 8, y: 0, z: 0 },
    { seat: 0, lost: 'Player moved out of bounds' },
    { seat: 1, did: 'move', direction: '-X', x: 1, y: 3, z: 3 },
    { seat: 2, did: 'bomb', x: 2, y: 3, z: 3 },
  ],
  lost: [{ seat: 3, tick: 0, cause: null }, { seat: 0, tick: 0, cause: 'Player moved out of bounds' }],
};
const BEFORE: CubeView = { ...AFTER, tick: 0, happened: [], lost: [], bombs: [], players: [{ seat: 0, x: 7, y: 0, z: 0 }] };

test('the position in words', () => {
  assert.equal(
    describe(AFTER, SEATS),
    'Tick 1 of at most 1000 in a cube with 8 cells along each edge. In the cube: bob at 1, 3, 3; cy at 5, 5, 5. Bombs: 2, 3, 3. ' +
      'dee lost in tick 0: gave no good answer in time; ada lost in tick 0: left the cube.',
  );
});

test('the score is the ticks that a seat outlived', () => assert.deepEqual(scoresOf(AFTER), [0, 1, 1, 0]));

test('losses of a tick are marked, once', () => {
  assert.deepEqual(marks(AFTER, BEFORE, SEATS), [{ kind: 'bomb', words: 'ada left the cube', player: 0 }]);
  assert.deepEqual(marks(AFTER, AFTER, SEATS), []);
});

test('a loser is shown where its last step led', () => {
  assert.deepEqual([...lastCells(AFTER, BEFORE)], [[0, [8, 0, 0]]]);
});

test('a loser that stood still is shown where it stood', () => {
  const hit: CubeView = { ...AFTER, happened: [{ seat: 0, lost: 'Player stepped on a BOMB' }] };
  assert.deepEqual([...lastCells(hit, BEFORE)], [[0, [7, 0, 0]]]);
  assert.deepEqual([...lastCells(hit, null)], []);
});

test('plans in words', () => {
  const plan = [{ task: 'MOVE', direction: '+X' }, { task: 'BOMB', x: 1, y: 2, z: 3 }, { task: 'NOOP' }];
  assert.equal(moveInWords(plan), 'steps +X, then bombs 1, 2, 3, then does nothing');
});
