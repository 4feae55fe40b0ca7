import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FeedMessage } from '../src/viewer/feed';
import { after, type SmallPosition } from '../src/viewer/small-position';

const PLAYERS = ['ada', 'bob'];
const SNAPSHOT: FeedMessage = {
  match: 'm', game: 'g', players: PLAYERS, contest: null, started: 0, snapshot: true, t: 0, bots: ['bob', 'ada'], view: { n: 0 },
};
const played = (step: number): FeedMessage => ({ match: 'm', t: step, event: { event: 'played', step, moves: {} }, view: { n: step + 1 } });

function shown(...messages: FeedMessage[]): SmallPosition | null {
  return messages.reduce<SmallPosition | null>((position, message) => after(position, message, PLAYERS), null);
}

test('a small board begins with the snapshot, whoever sits where', () => {
  assert.deepEqual(shown(SNAPSHOT)?.order, [1, 0]);
});

test('a step that follows the one before is animated, and a later one is not', () => {
  assert.deepEqual(shown(SNAPSHOT, played(4), played(5))?.before, { n: 5 });
  assert.equal(shown(SNAPSHOT, played(4), played(7))?.before, null);
});

test('a new board has new seats', () => {
  const began: FeedMessage = { match: 'm', t: 5, event: { event: 'began', board: 1, order: [0, 1] }, view: {} };
  const position = shown(SNAPSHOT, played(0), began);
  assert.deepEqual([position?.order, position?.before], [[0, 1], null]);
});

test('the last position stays when the match is over', () => {
  const position = shown(SNAPSHOT, played(0), { match: 'm', end: true });
  assert.deepEqual(position?.view, { n: 1 });
  assert.equal(shown({ match: 'm', end: true }), null);
});
