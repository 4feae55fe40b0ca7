import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { Feed, type FeedMessage } from '../src/viewer/feed';

class FakeSocket {
  static OPEN = 1;
  static made: FakeSocket[] = [];
  readyState = 1;
  sent: string[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;

  constructor() {
    FakeSocket.made.push(this);
  }

  send(text: string): void {
    this.sent.push(text);
  }

  close(): void {}
}

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] });
  FakeSocket.made = [];
  Object.assign(globalThis, { WebSocket: FakeSocket, requestAnimationFrame: (act: () => void) => act(), document: { hidden: false } });
});
afterEach(() => mock.timers.reset());

test('a board that takes the place of another one shows its match at once', () => {
  const feed = new Feed(() => 'ws://x/watch/');
  const told: FeedMessage[][] = [];
  const leave = feed.watch('m', () => {});
  mock.timers.tick(50);
  const socket = FakeSocket.made[0]!;
  socket.onopen?.();
  const hear = (message: unknown) => socket.onmessage?.({ data: JSON.stringify(message) });
  const snapshot = { match: 'm', snapshot: true, t: 0, bots: ['a'], view: {} };
  const [second, third] = [1, 2].map((t) => ({ match: 'm', t, event: { event: 'played', step: t, moves: {} }, view: {} }));
  for (const message of [snapshot, second, third]) hear(message);
  leave();
  const leaveAgain = feed.watch('m', (messages) => told.push(messages));
  assert.deepEqual(told, [[snapshot, third]]);
  leaveAgain();
  mock.timers.tick(50);
  feed.watch('m', (messages) => told.push(messages));
  assert.equal(told.length, 1, 'the server sends a new snapshot');
});

test('boards that come and go do not shorten the rest before the next attempt', () => {
  const feed = new Feed(() => 'ws://x/watch/');
  feed.watch('m', () => {});
  mock.timers.tick(50);
  FakeSocket.made[0]!.onclose?.();
  feed.watch('n', () => {})();
  mock.timers.tick(300);
  assert.equal(FakeSocket.made.length, 1);
  mock.timers.tick(400);
  assert.equal(FakeSocket.made.length, 2);
});
