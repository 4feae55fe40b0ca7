import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BombermanView, type User, burnPlan, flames, moveInWords, openActions } from '../src/renderers/bomberman_view';
import { describe, fallen, marks } from '../src/renderers/bomberman_words';

const SEATS = [{ player: 0, name: 'ada' }, { player: 1, name: 'bob' }];
const user = (seat: number, at: [number, number] | null, more: Partial<User> = {}): User =>
  ({ seat, at, alive: at !== null, bombsLeft: 1, range: 3, kills: 0, crates: 0, upgrades: 0, ...more });
const VIEW: BombermanView = {
  you: null, toMove: [0, 1], round: 7, rounds: 500, height: 5, width: 5, fuse: 4, flamePierces: false,
  tiles: [
    '..++.',
    '.#.#+',
    '.....',
    '.#.#.',
    '.....',
  ],
  users: [user(0, [0, 0]), user(1, [4, 4])], bombs: [], upgrades: [], explosions: [],
  closing: { from: 300, at: 300, next: [[0, 0]] },
};
const bomb = (at: [number, number], turnsLeft: number, range = 3, seat = 0) => ({ at, turnsLeft, range, seat });

test('flames reach as far as their range, a wall, a crate or the edge', () => {
  assert.deepEqual(flames(VIEW.tiles, bomb([0, 0], 1), false), [[0, 0], [1, 0], [2, 0], [3, 0], [0, 1], [0, 2]]);
  assert.deepEqual(flames(VIEW.tiles, bomb([0, 0], 1, 1), false), [[0, 0], [1, 0], [0, 1]]);
  assert.deepEqual(flames(VIEW.tiles, bomb([1, 0], 1, 2), false), [[1, 0], [0, 0], [2, 0], [3, 0]]);
});

test('flames that pierce burn on behind crates', () => {
  assert.deepEqual(flames(VIEW.tiles, bomb([0, 1], 1), true), [[0, 1], [0, 0], [0, 2], [0, 3], [0, 4]]);
});

test('a bomb that flames reach goes off with them', () => {
  const plan = burnPlan({ ...VIEW, bombs: [bomb([2, 0], 1), bomb([2, 2], 4, 1), bomb([4, 4], 3)] });
  assert.deepEqual(plan.map(({ bomb: { at }, turns }) => [at, turns]), [[[2, 0], 1], [[2, 2], 1], [[4, 4], 3]]);
});

test('a later bomb burns what an earlier one laid open, but two of one round do not', () => {
  const reach = (second: number) => burnPlan({ ...VIEW, bombs: [bomb([2, 2], 1, 2), bomb([0, 0], second)] }).at(-1)!.places;
  assert.ok(reach(2).some(([row, column]) => row === 0 && column === 3));
  assert.ok(!reach(1).some(([row, column]) => row === 0 && column === 3));
});

test('a user does what the legal moves say, or else what the map allows', () => {
  assert.deepEqual([...openActions(VIEW, 0)], ['MOVE_DOWN', 'MOVE_RIGHT', 'PLACE_BOMB', 'WAIT']);
  assert.deepEqual([...openActions({ ...VIEW, bombs: [bomb([0, 0], 4), bomb([1, 0], 4)] }, 0)], ['MOVE_RIGHT', 'WAIT']);
  assert.deepEqual([...openActions(VIEW, 0, [{ action: 'WAIT' }, 'up'])], ['WAIT', 'MOVE_UP']);
  assert.deepEqual([...openActions({ ...VIEW, users: [user(0, null)] }, 0)], []);
});

test('actions are told by one word, in whatever form they were sent', () => {
  assert.equal(moveInWords({ action: 'MOVE_LEFT' }), 'left');
  assert.equal(moveInWords('bomb'), 'bomb');
  assert.equal(moveInWords('Noop'), 'wait');
  assert.equal(moveInWords({ action: 'JUMP' }), '{"action":"JUMP"}');
  assert.equal(moveInWords(null), 'null');
});

test('bombs are marked that burn crates', () => {
  const laid = { ...VIEW, bombs: [bomb([0, 0], 1)] };
  assert.deepEqual(marks(laid, VIEW, SEATS), [], 'the list of moves tells that it was placed');
  const burned = { ...VIEW, explosions: flames(VIEW.tiles, bomb([0, 0], 1), false) };
  assert.deepEqual(marks(burned, laid, SEATS), [{ kind: 'bomb', player: 0, words: 'A bomb of ada burns 1 crate' }]);
  const two = { ...laid, bombs: [...laid.bombs, bomb([2, 0], 3, 3, 1)] };
  const both = { ...burned, explosions: [...burned.explosions, ...flames(VIEW.tiles, bomb([2, 0], 1, 4), false), [1, 4] as const] };
  assert.deepEqual(marks(both, two, SEATS), [{ kind: 'bomb', words: '2 bombs of ada and bob burn 2 crates' }]);
  assert.deepEqual(marks({ ...VIEW, explosions: [[4, 0], [4, 1]] }, { ...VIEW, bombs: [bomb([4, 0], 1)] }, SEATS), []);
});

test('deaths and upgrades are marked', () => {
  const before = { ...VIEW, bombs: [bomb([4, 3], 1)] };
  const dead = { ...VIEW, explosions: [[4, 3], [4, 4]] as const, users: [user(0, [0, 0], { kills: 1 }), user(1, null)] };
  assert.equal(marks(dead, before, SEATS).at(-1)?.words, "bob dies in ada's blast, bomb of round 4");
  assert.deepEqual(fallen(dead, before), [{ seat: 1, place: [4, 4] }]);
  assert.deepEqual(fallen(dead, dead), []);
  const own = { ...before, bombs: [bomb([4, 3], 1, 3, 1)] };
  assert.equal(marks({ ...dead, users: [user(0, [0, 0]), user(1, null)] }, own, SEATS).at(-1)?.words, 'bob dies in its own blast, bomb of round 4');
  assert.equal(marks(dead, VIEW, SEATS).at(-1)?.words, 'bob dies in a blast');
  const walled = { ...VIEW, tiles: [...VIEW.tiles.slice(0, 4), '....#'], users: [VIEW.users[0]!, user(1, null)] };
  assert.deepEqual(marks(walled, VIEW, SEATS), [{ kind: 'out', player: 1, words: 'bob dies under a closing wall' }]);
  assert.equal(marks({ ...VIEW, users: [VIEW.users[0]!, user(1, null)] }, VIEW, SEATS)[0]?.words, 'bob is out');
  const better = { ...VIEW, users: [user(0, [0, 0], { upgrades: 1, range: 4 }), VIEW.users[1]!] };
  assert.deepEqual(marks(better, VIEW, SEATS), [{ kind: 'capture', player: 0, words: 'ada takes an upgrade: a longer range' }]);
});

test('a position in words has users, bombs with what they burn, upgrades, crates and closing walls', () => {
  const view = { ...VIEW, you: 0, bombs: [bomb([4, 4], 2, 1, 1)], upgrades: [{ at: [2, 2] as const, type: 'ADDITIONAL_BOMB' }] };
  assert.equal(describe(view, SEATS), 'Round 7 of 500, 5 rows by 5 columns. Places are row, column. '
    + 'ada (you) at 0, 0, bombs left 1, range 3, can go down, right. bob at 4, 4, bombs left 1, range 3. '
    + 'A bomb of bob at 4, 4 goes off in 2 and burns 4, 4; 3, 4; 4, 3. Upgrade at 2, 2: one more bomb. Crates left: 3. '
    + 'Walls close at the end of round 300: 0, 0.');
  assert.match(describe({ ...VIEW, toMove: [], explosions: [[1, 0]], users: [user(0, null)] }, SEATS), /ada is out\..*Burned in the last round: 1, 0\..*over\.$/);
});
