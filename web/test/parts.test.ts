import assert from 'node:assert/strict';
import { test } from 'node:test';
import { phoneUrl, whereOf } from '../src/parts/bring-a-bot';
import { readFollowed, toggled, type Followed } from '../src/parts/follow';
import { momentInWords } from '../src/parts/moment';
import { boardOf } from '../src/replay/boards';
import type { Film, MatchEvent } from '../src/replay/film';

test('a moment is told by how long ago it was, then by its date', () => {
  const now = new Date('2026-11-16T12:00:00Z');
  const ago = (seconds: number) => momentInWords(new Date(now.getTime() - 1000 * seconds), now);
  assert.deepEqual([5, 60, 3599, 7200].map(ago), ['just now', '1 min ago', '59 min ago', '2 h ago']);
  assert.match(ago(10 * 86_400), /6/);
  assert.match(ago(400 * 86_400), /2025/);
});

test('lines for bots have the public address of the server, or the one of the page', () => {
  const here = { origin: 'http://127.0.0.1:3000', hostname: '127.0.0.1' };
  const server = { version: '1', url: 'https://bots.example.org', tls: true, ports: { duel: 5232 }, house: false, networkUrl: null, uploads: { allowed: 'off', daily: 20, limits: { packed: 1, unpacked: 1, files: 1 } } };
  assert.deepEqual(whereOf(null, here), { http: here.origin, ws: 'ws://127.0.0.1:3000', host: '127.0.0.1', ports: {} });
  assert.deepEqual(whereOf(server, here), { http: server.url, ws: 'wss://bots.example.org', host: 'bots.example.org', ports: { duel: 5232 } });
});

test('a board of a match is a film of its own', () => {
  const result = (winner: number) => ({ places: [winner ? 2 : 1, winner ? 1 : 2], scores: [0, 1], causes: ['complete', 'complete'] as const });
  const events = [
    { event: 'began', board: 0, order: [0, 1] }, { event: 'played', step: 0, moves: {} }, { event: 'played', step: 1, moves: {} },
    { event: 'board ended', board: 0, result: result(0) },
    { event: 'began', board: 1, order: [1, 0] }, { event: 'played', step: 2, moves: {} }, { event: 'board ended', board: 1, result: result(1) },
    { event: 'ended', result: { ...result(0), boards: [] } },
  ] as unknown as MatchEvent[];
  const film = { length: events.length, header: {}, event: (index: number) => events[index], frame: (index: number) => ({ t: 100 * index, event: events[index] }) } as unknown as Film;
  const shown = (board: number) => {
    const found = boardOf(film, board);
    return found && Array.from({ length: found.length }, (_, index) => found.frame(index)).map(({ t, event }) => [t, event?.event, event?.event === 'played' ? event.step : null]);
  };
  assert.deepEqual(shown(0), [[0, 'began', null], [100, 'played', 0], [200, 'played', 1], [300, 'board ended', null]]);
  assert.deepEqual(shown(1), [[0, 'began', null], [100, 'played', 0], [200, 'board ended', null]]);
  assert.deepEqual([boardOf(film, 1)?.steps, boardOf(film, 2)], [2, null]);
});

test('a phone gets an address that it can open', () => {
  const [local, far] = [{ origin: 'http://127.0.0.1:3000', hostname: '127.0.0.1' }, { origin: 'http://10.0.0.9:3000', hostname: '10.0.0.9' }];
  assert.equal(phoneUrl({ url: null, networkUrl: 'http://10.0.0.9:3000' }, local), 'http://10.0.0.9:3000');
  assert.equal(phoneUrl({ url: null, networkUrl: null }, local), null);
  assert.equal(phoneUrl({ url: null, networkUrl: null }, far), far.origin);
  assert.equal(phoneUrl({ url: 'https://bots.example.org', networkUrl: null }, local), 'https://bots.example.org');
});

test('followed bots and contests are kept as a list, and anything else in its place is none', () => {
  const ada: Followed = { kind: 'bot', game: 'gomoku', name: 'ada' };
  const list = toggled([], ada);
  assert.deepEqual([list, toggled(list, ada), toggled(list, { ...ada, kind: 'contest' }).length], [[ada], [], 2]);
  assert.deepEqual(readFollowed(JSON.stringify([ada, 5, null, { kind: 'bot' }])), [ada]);
  assert.deepEqual([null, '{', '{}', '7'].map(readFollowed), [[], [], [], []]);
});
