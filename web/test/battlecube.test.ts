import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describe, fallen, marks, moveInWords, scoresOf, type CubeView } from '../src/renderers/battlecube_view';

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
  assert.deepEqual(marks(AFTER, BEFORE, SEATS), [{ kind: 'out', words: 'ada left the cube at 8, 0, 0', player: 0 }]);
  assert.deepEqual(marks(AFTER, AFTER, SEATS), []);
});

test('a loser is shown where its last step led', () => {
  assert.deepEqual(fallen(AFTER, BEFORE), [{ seat: 0, place: [8, 0, 0] }]);
});

test('two that met name each other', () => {
  const cause = 'Player crashed to other player';
  const met: CubeView = { ...AFTER, players: [], happened: [{ seat: 0, lost: cause }, { seat: 1, did: 'move', x: 7, y: 0, z: 0 }, { seat: 1, lost: cause }], lost: [{ seat: 0, tick: 0, cause }, { seat: 1, tick: 0, cause }] };
  const stood = { ...BEFORE, players: [...BEFORE.players, { seat: 1, x: 6, y: 0, z: 0 }] };
  assert.deepEqual(marks(met, stood, SEATS).map(({ words }) => words), ['ada met bob at 7, 0, 0', 'bob met ada at 7, 0, 0']);
});

test('a loser that stood still is shown where it stood', () => {
  const hit: CubeView = { ...AFTER, happened: [{ seat: 0, lost: 'Player stepped on a BOMB' }] };
  assert.deepEqual(fallen(hit, BEFORE), [{ seat: 0, place: [7, 0, 0] }]);
  assert.deepEqual(fallen(hit, hit), []);
});

test('plans in words', () => {
  const plan = [{ task: 'MOVE', direction: '+X' }, { task: 'BOMB', x: 1, y: 2, z: 3 }, { task: 'NOOP' }];
  assert.equal(moveInWords(plan), 'steps +X, then bombs 1, 2, 3, then does nothing');
});
