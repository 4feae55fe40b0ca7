import assert from 'node:assert/strict';
import { test } from 'node:test';
import { curve } from '../src/pages/evaluation';
import type { Showing } from '../src/viewer/showing';

function showing(players: number): Pick<Showing, 'film' | 'digest'> {
  const header = { players: Array.from({ length: players }, (_, player) => ({ name: `bot ${player}` })) };
  return { film: { header }, digest: { indexOf: (step: number) => 2 * step } } as unknown as Showing;
}

test('the curve of two players is their chance to win, over the frames', () => {
  const { x, series } = curve(showing(2), { steps: [0, 3, 3], shares: [[0.5, 0.5], [0.2, 0.8], [0, 1]], turns: [], method: '' });
  assert.deepEqual(x, [0, 6, 6]);
  assert.deepEqual(series.map(({ values }) => values), [[0.5, 0.2, 0], [0.5, 0.8, 1]]);
});

test('the curve of more players is their expected place', () => {
  const { series } = curve(showing(3), { steps: [0], shares: [[1, 0.5, 0]], turns: [], method: '' });
  assert.deepEqual(series.map(({ values }) => values), [[1], [2], [3]]);
});
