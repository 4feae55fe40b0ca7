import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOwner } from '../src/pages/class-owner';
import { isWinner } from '../src/parts/class-results';

test('a kept participant is read, and nothing else', () => {
  const ada = { class: 'Robots', name: 'Ada', token: 'secret' };
  assert.deepEqual(readOwner(JSON.stringify(ada)), ada);
  for (const text of [null, '', '{', 'null', '7', '{"class": "Robots"}', '{"class": 1, "name": "Ada", "token": "x"}']) assert.equal(readOwner(text), null);
});

test('a winner came first alone', () => {
  const players = [1, 2, null].map((place) => ({ bot: 'b', participant: null, place }));
  assert.deepEqual(players.map((one) => isWinner(one, players)), [true, false, false]);
  const drawn = [1, 1].map((place) => ({ bot: 'b', participant: null, place }));
  assert.deepEqual(drawn.map((one) => isWinner(one, drawn)), [false, false]);
});
