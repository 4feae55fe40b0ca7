import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import type { News, Snapshot } from '../src/viewer/live-film';
import { Following, type Connection } from '../src/viewer/stream';

class FakeSocket {
  static made: FakeSocket[] = [];
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  closed = false;

  constructor(readonly url: string) {
    FakeSocket.made.push(this);
  }

  close(): void {
    this.closed = true;
  }

  hear(message: unknown): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
}

const SNAPSHOT = { match: 'm', game: 'g', players: ['a'], contest: null, started: 0, snapshot: true, t: 0, bots: ['a'], view: {} };
/** A page that may be hidden. */
const page = Object.assign(new EventTarget(), { hidden: false });
let told: Connection[] = [];
let news: (Snapshot | News)[] = [];

beforeEach(() => {
  FakeSocket.made = [];
  told = [];
  news = [];
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
  const events = { addEventListener: () => {}, removeEventListener: () => {} };
  page.hidden = false;
  Object.assign(globalThis, { WebSocket: FakeSocket, document: page, ...events });
});

function follow(): Following {
  return new Following('ws://x/watch/m', { news: (message) => news.push(message), connection: (connection) => told.push(connection) });
}

function socket(): FakeSocket {
  return FakeSocket.made.at(-1)!;
}

function states(): string[] {
  return told.map(({ state }) => state);
}

test('what a match says is passed on until it is over', () => {
  follow();
  socket().hear(SNAPSHOT);
  socket().hear({ match: 'm', t: 1, event: { event: 'left', player: 0 }, view: {} });
  socket().onclose?.({ code: 1000 });
  assert.equal(news.length, 2);
  assert.deepEqual(states(), ['connecting', 'live', 'over']);
});

test('a lost connection is made again, more and more rarely', () => {
  follow();
  socket().hear(SNAPSHOT);
  const delays = [1, 2, 3].map(() => {
    socket().onclose?.({ code: 1006 });
    const lost = told.at(-1)!;
    assert.ok(lost.state === 'lost');
    mock.timers.tick(lost.delay);
    return lost.delay;
  });
  assert.equal(FakeSocket.made.length, 4);
  assert.ok(delays[0]! < delays[1]! && delays[1]! < delays[2]!);
  socket().hear(SNAPSHOT);
  assert.equal(told.at(-1)?.state, 'live');
});

test('the user need not wait for the next attempt', () => {
  const following = follow();
  following.retry();
  assert.equal(FakeSocket.made.length, 1);
  socket().onclose?.({ code: 1006 });
  following.retry();
  mock.timers.tick(60_000);
  assert.equal(FakeSocket.made.length, 2);
});

test('a page that reads too slowly comes back at once', () => {
  follow();
  socket().onclose?.({ code: 1008 });
  const lost = told.at(-1)!;
  assert.deepEqual(lost.state === 'lost' && lost.delay, 0);
});

test('a match that is not there is asked for again, and then refused with the words of the server', () => {
  follow();
  for (let count = 0; count < 3; count += 1) {
    socket().hear({ error: 'there is no match' });
    socket().onclose?.({ code: 4404 });
    mock.timers.tick(60_000);
  }
  assert.deepEqual(told.at(-1), { state: 'refused', words: 'there is no match' });
  assert.equal(FakeSocket.made.length, 3);
});

test('what is stopped says nothing more', () => {
  const following = follow();
  const last = socket();
  following.stop();
  last.hear(SNAPSHOT);
  last.onclose?.({ code: 1006 });
  mock.timers.tick(60_000);
  assert.deepEqual([last.closed, news.length, FakeSocket.made.length], [true, 0, 1]);
});

test('a hidden page reconnects when it is visible again', () => {
  follow();
  page.hidden = true;
  socket().onclose?.({ code: 1006 });
  mock.timers.tick(10_000);
  assert.equal(FakeSocket.made.length, 1);
  page.hidden = false;
  page.dispatchEvent(new Event('visibilitychange'));
  assert.equal(FakeSocket.made.length, 2);
});
