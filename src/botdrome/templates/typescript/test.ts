// Feeds the positions of positions.jsonl to the bot. `moves` lists the legal moves, if they can be listed.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { choose, type View } from './strategy.js';

type Position = { view: View; moves?: unknown[] };

for (const [number, line] of readFileSync('positions.jsonl', 'utf8').trim().split('\n').entries()) {
  test(`position ${number + 1}`, () => {
    const { view, moves } = JSON.parse(line) as Position;
    const move = choose(view, 1);
    assert.ok(moves?.some((legal) => isDeepStrictEqual(legal, move)) ?? move, `${JSON.stringify(move)} is not legal`);
  });
}
