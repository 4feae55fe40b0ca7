/** Small boards come in dozens and change several times a second: a step writes only what it changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { render } from 'preact';
import { bomberman } from '../src/renderers/bomberman';
import type { BombermanView } from '../src/renderers/bomberman_view';
import { bumblebots } from '../src/renderers/bumblebots';
import type { BumblebotsView } from '../src/renderers/bumblebots_view';
import { generic } from '../src/renderers/generic';
import type { View } from '../src/replay/film';
import type { Renderer } from '../src/renderers/renderer';
import * as dom from './counting_dom';

const SEATS = [{ player: 0, name: 'ada' }, { player: 1, name: 'bob' }];

/** How much is written for the first position, and for each one after it. */
function writesFor<V extends View>({ Board }: Renderer<V>, views: readonly V[]): number[] {
  const root = dom.countingRoot();
  return views.map((view, at) => {
    const earlier = dom.writes;
    render(<Board view={view} before={views[at - 1] ?? null} event={null} seats={SEATS} final={null} small />, root);
    return dom.writes - earlier;
  });
}

/** The same position as another object, as it comes from the server. */
function anew<V>(view: V): V {
  return structuredClone(view);
}

function assertCheap(counts: readonly number[], most: number): void {
  const [first, ...steps] = counts;
  assert.ok(first! > 20, 'something was drawn');
  assert.ok(Math.max(...steps) <= most, `${steps.join(', ')} writes, where ${most} are enough`);
}

test('a step of Bumblebots moves the bees and leaves the ground alone', () => {
  const side = 8;
  const board = Array.from({ length: 2 * side - 1 }, (_, row) =>
    Array.from({ length: Math.min(2 * side - 1, side + row) }, (_x, column) => (column < row - side + 1 ? null : (row * column) % 5 ? 0 : 1)));
  const tick = (turnNumber: number): BumblebotsView => ({
    you: null, toMove: [0, 1], turnNumber, ticks: 100, board: anew(board), spawnPoints: [[[1, 3]], [[13, 9]]], territory: [5, 6], maxDrones: 2, score: [0, 0],
    drones: [{ Mia: { position: [3, 2 + turnNumber] }, Ann: { position: [4, 4] } }, { Zoe: { position: [7, 9 - turnNumber] }, Eve: { position: [9, 9] } }],
    record: [],
  });
  assertCheap(writesFor(bumblebots, [0, 1, 2, 3, 4].map(tick)), 8);
});

test('a round of Bomberman moves users and fuses and leaves the map alone', () => {
  const tiles = Array.from({ length: 13 }, (_, row) => (row % 2 ? '.#+#.#+#.#+#.' : '....+...+....'));
  const round = (number: number): BombermanView => ({
    you: null, toMove: [0, 1], round: number, rounds: 500, height: 13, width: 13, fuse: 4, flamePierces: false, tiles: anew(tiles),
    users: [0, 1].map((seat) => ({ seat, at: [seat * 12, number], alive: true, bombsLeft: 0, range: 3, kills: 0, crates: 0, upgrades: 0 })),
    bombs: [{ at: [6, 6], turnsLeft: 9 - number, range: 3, seat: 0 }], upgrades: [], explosions: [], closing: { from: 300, at: 300, next: [] },
  });
  assertCheap(writesFor(bomberman, [0, 1, 2, 3, 4].map(round)), 8);
});

test('a step of any other game redraws its grid only if a cell changed', () => {
  const view = (round: number): View => ({ toMove: [0], round, board: Array.from({ length: 15 }, () => '..X..O....+....') });
  assertCheap(writesFor(generic, [0, 1, 2, 3].map(view)), 4);
});
