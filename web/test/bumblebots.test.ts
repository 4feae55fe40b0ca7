import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type BumblebotsView, beside, centreOf, claimsIn, describe, hexAt, marks, moveInWords, openWays,
} from '../src/renderers/bumblebots_view';
import { bumblebots } from '../src/renderers/bumblebots';

const SEATS = [{ player: 0, name: 'ada' }, { player: 1, name: 'bob' }];
const BEFORE: BumblebotsView = {
  you: null, toMove: [0, 1], turnNumber: 3, ticks: 100, territory: [5, 6], maxDrones: 1, score: [0, 2],
  board: [
    [1, 1, 1, 1],
    [1, 5, 0, 2, 1],
    [1, 0, 0, 0, 0, 1],
    [1, 0, 0, 0, 0, 0, 1],
    [null, 1, 0, 0, 0, 0, 1],
    [null, null, 1, 0, 0, 6, 1],
    [null, null, null, 1, 1, 1, 1],
  ],
  spawnPoints: [[[1, 1]], [[5, 5]]],
  drones: [{ Mia: { position: [1, 2] } }, { Zoe: { position: [5, 5] } }],
  record: [{ missed: 0, invalid: 0, blocked: 0 }, { missed: 0, invalid: 0, blocked: 0 }],
};
const AFTER: BumblebotsView = {
  ...BEFORE, turnNumber: 4, score: [1, 2], drones: [{}, { Zoe: { position: [5, 4] } }],
  board: BEFORE.board.map((row, i) => (i === 1 ? [1, 5, 5, 1, 1] : i === 2 ? [1, 0, 0, 5, 5, 1] : row)),
  record: [{ missed: 0, invalid: 0, blocked: 0 }, { missed: 0, invalid: 2, blocked: 0 }],
};

test('a point in a hex leads to that hex', () => {
  for (const hex of [[1, 0], [3, 5], [6, 3]] as const) {
    const { x, y } = centreOf(hex);
    assert.deepEqual(hexAt({ x: x + 4, y: y - 7 }), hex);
  }
});

test('the six ways lie as their names say', () => {
  const [from, upLeft, right] = [centreOf([3, 3]), centreOf(beside([3, 3], 'UL')), centreOf(beside([3, 3], 'R'))];
  assert.ok(upLeft.x < from.x && upLeft.y < from.y);
  assert.ok(right.x > from.x && right.y === from.y);
});

test('a claim names the flower and the drone that was used up', () => {
  assert.deepEqual(claimsIn(AFTER, BEFORE), [{ seat: 0, drone: 'Mia', hex: [1, 3] }]);
  assert.deepEqual(claimsIn(BEFORE, BEFORE), []);
});

test('claims and invalid orders are marked', () => {
  assert.deepEqual(marks(AFTER, BEFORE, SEATS), [
    { kind: 'capture', player: 0, words: 'ada claims the flower at 1, 3: 1 to 2' },
    { kind: 'illegal', player: 1, words: '2 orders of bob could not be carried out' },
  ]);
  assert.deepEqual(marks(BEFORE, BEFORE, SEATS), []);
});

test('a position in words has scores, drones, zones and flowers', () => {
  assert.equal(describe({ ...BEFORE, you: 0 }, SEATS), 'Tick 3 of 100. Places are row, column. '
    + 'ada (you): score 0, a zone of 1 hexes, drones Mia at 1, 2. bob: score 2, a zone of 1 hexes, drones Zoe at 5, 5. Flowers at 1, 3.');
  assert.match(describe({ ...AFTER, toMove: [] }, SEATS), /no drones.*No flowers\. The game is over\.$/);
});

test('drones go where the legal moves say, or else where the ground is open', () => {
  assert.deepEqual([...openWays(BEFORE, 0).get('Mia')!].sort(), ['DL', 'DR', 'L', 'R']);
  const legal = [{ orders: {} }, { orders: { Mia: 'R' } }];
  assert.deepEqual([...openWays(BEFORE, 0, legal).get('Mia')!], ['R']);
  assert.ok(!openWays({ ...BEFORE, drones: [{ Mia: { position: [5, 4] } }, {}] }, 0).get('Mia')!.has('R'), 'a zone of the other');
});

test('orders are told drone by drone, with or without the key around them', () => {
  assert.equal(moveInWords({ orders: { Mia: 'UL', Ann: 'R' } }), 'Mia up left, Ann right');
  assert.equal(moveInWords({ Mia: 'DR' }), 'Mia down right');
  assert.equal(moveInWords({ orders: {} }), 'all drones stay');
  assert.equal(moveInWords({ orders: { Mia: 'X' } }), 'Mia "X"');
  assert.equal(moveInWords([1]), '[1]');
});

test('the scores are those of the view', () => assert.deepEqual(bumblebots.scores!(AFTER), [1, 2]));
