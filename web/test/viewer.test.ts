import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generic } from '../src/renderers/generic';
import type { Renderer } from '../src/renderers/renderer';
import type { MatchEvent, Result } from '../src/replay/film';
import { byPlayer, Digest, thinned, type Placed } from '../src/viewer/digest';
import { linksOf } from '../src/viewer/links';
import { headerOf, LiveFilm, seatOrder, type Snapshot } from '../src/viewer/live-film';
import { stepOf } from '../src/viewer/showing';
import { delayBefore, streamUrl } from '../src/viewer/stream';
import { resultInWords, seconds } from '../src/viewer/words';

const SNAPSHOT: Snapshot = {
  match: 'm', game: 'g', players: ['ada', 'bob'], contest: null, started: 5, snapshot: true, t: 0, bots: ['ada', 'bob'], view: { toMove: [0] },
};
const played = (step: number, player: number): MatchEvent => ({ event: 'played', step, moves: { [player]: 'x' } });

function live(...messages: [number, MatchEvent, Record<string, unknown>?][]): LiveFilm {
  const film = new LiveFilm(headerOf(SNAPSHOT));
  film.add(SNAPSHOT, 0);
  for (const [t, event, view] of messages) film.add({ match: 'm', t, event, view: view ?? {} }, t);
  return film;
}

test('a live film grows by what spectators are told, and is over with the match', () => {
  const result: Result = { places: [1, 2], scores: [1, 0], causes: ['complete', 'complete'], boards: [] };
  const film = live([10, played(0, 0)], [20, { event: 'ended', result }]);
  assert.deepEqual([film.length, film.over, film.heard], [3, true, 20]);
  assert.deepEqual(film.frame(1).order, [0, 1]);
  assert.throws(() => film.frame(3), RangeError);
});

test('the snapshot before the start gives way to the start', () => {
  const film = live([0, { event: 'began', board: 0, order: [1, 0] }]);
  assert.deepEqual([film.length, film.frame(0).event?.event, film.frame(0).order], [1, 'began', [1, 0]]);
});

test('after a lost connection the film goes on, and knows a match that has ended meanwhile', () => {
  const film = live([10, played(0, 0)]);
  film.add({ ...SNAPSHOT, t: 50 }, 60);
  assert.deepEqual([film.length, film.frame(2).event], [3, null]);
  assert.deepEqual([film.isBefore({ ...SNAPSHOT, t: 60 }), film.isBefore({ ...SNAPSHOT, t: 0 })], [false, true]);
});

const began: MatchEvent = { event: 'began', board: 0, order: [0, 1] };

/** A match from its start, as the server tells it later. */
function past(...events: MatchEvent[]): LiveFilm {
  const film = new LiveFilm(headerOf(SNAPSHOT));
  events.forEach((event, at) => film.add({ match: 'm', t: at, event, view: { at } }, at));
  return film;
}

function eventsOf(film: LiveFilm): (number | string | null)[] {
  return Array.from({ length: film.length }, (_, at) => film.event(at)).map((event) => (event?.event === 'played' ? event.step : (event?.event ?? null)));
}

test('a match that was joined in the middle is completed to its start', () => {
  const joined = live([12, played(2, 0)], [13, played(3, 1)]);
  const whole = joined.after(past(began, played(0, 0), played(1, 1), played(2, 0)));
  assert.deepEqual(eventsOf(whole), ['began', 0, 1, 2, 3]);
  assert.deepEqual([whole.frame(1).view, whole.heard, whole.over], [{ at: 1 }, 13, false]);
  whole.add({ match: 'm', t: 14, event: played(4, 0), view: {} }, 14);
  assert.deepEqual(eventsOf(whole), ['began', 0, 1, 2, 3, 4]);
  assert.throws(() => whole.frame(6), RangeError);
});

test('the past may end before the match was joined, or with the position at which it was', () => {
  assert.deepEqual(eventsOf(live([12, played(2, 0)]).after(past(began, played(0, 0)))), ['began', 0, null, 2]);
  const film = new LiveFilm(headerOf(SNAPSHOT));
  film.add({ ...SNAPSHOT, t: 9, view: { at: 1 } }, 0);
  assert.deepEqual(eventsOf(film.after(past(began, played(0, 0)))), ['began', 0]);
});

test('steps are known before the digest has reached them', () => {
  const digest = new Digest(live([10, played(0, 0)], [20, played(1, 1)], [30, { event: 'left', player: 0 }]), generic);
  assert.deepEqual([0, 1, 2, 3].map((index) => stepOf(digest, index)), [0, 1, 2, 2]);
  digest.read(2);
  assert.deepEqual([0, 1, 2, 3].map((index) => stepOf(digest, index)), [0, 1, 2, 2]);
});

test('seats are found by names, also where two players have the same', () => {
  assert.deepEqual(seatOrder(['ada', 'bob', 'ada'], ['ada', 'ada', 'bob']), [0, 2, 1]);
});

test('a digest counts steps, also of a match that was joined in the middle', () => {
  const digest = new Digest(live([10, played(7, 0)], [30, played(8, 1)], [31, { event: 'left', player: 0 }]), generic);
  assert.equal(digest.read(2), true);
  assert.equal(digest.read(), false);
  assert.deepEqual(digest.steps, [7, 8, 9, 9]);
  assert.deepEqual([0, 8, 9, 99].map((step) => digest.indexOf(step)), [0, 1, 2, 3]);
});

test('a digest knows what each move took, also where moves are secret, but not of moves that are made together', () => {
  const secret: MatchEvent = { event: 'played', step: 0, moves: {} };
  const together: MatchEvent = { event: 'played', step: 2, moves: { 0: 'x', 1: 'y' } };
  const digest = new Digest(live([10, secret], [35, played(1, 1)], [50, together]), generic);
  digest.read();
  assert.deepEqual(digest.thoughts, [{ index: 1, player: 0, milliseconds: 10 }, { index: 2, player: 1, milliseconds: 25 }]);
});

test('a digest has the marks of the game beside those of all games, and scores by player', () => {
  const game: Renderer = { ...generic, scores: (view) => (view['score'] as number[]) ?? null, marks: () => [{ kind: 'bomb', words: 'a bomb' }] };
  const film = live([1, { event: 'began', board: 0, order: [1, 0] }], [2, played(0, 0), { score: [3, 4] }], [3, { event: 'out', player: 1, cause: 'timeout', detail: '' }]);
  const digest = new Digest(film, game);
  digest.read();
  assert.deepEqual(digest.marks.map(({ kind, index }) => [kind, index]), [['bomb', 2], ['out', 3]]);
  assert.deepEqual(digest.scores.at(2), [4, 3]);
  assert.equal(digest.scores.at(-1), null);
  assert.deepEqual(byPlayer([5, 6, 7], [2, 0, 1]), [6, 7, 5]);
});

test('the end of a board is found from any of its frames', () => {
  const result = { places: [1, 2], scores: [1, 0], causes: ['complete' as const, 'complete' as const] };
  const digest = new Digest(live([1, played(0, 0)], [2, { event: 'board ended', board: 0, result }], [3, { event: 'began', board: 1, order: [1, 0] }]), generic);
  digest.read();
  assert.deepEqual([0, 2, 3].map((index) => digest.endOf(index)), [2, 2, null]);
});

test('of marks that would lie on each other, the one that matters most is shown', () => {
  const marks: Placed[] = [{ kind: 'capture', words: '', index: 500 }, { kind: 'out', words: '', index: 501 }, { kind: 'bomb', words: '', index: 900 }];
  assert.deepEqual(thinned(marks, 1000, 100).map(({ index }) => index), [501, 900]);
  assert.equal(thinned(marks, 1000, 1000).length, 3);
});

test('attempts to connect become rarer, up to a bound', () => {
  assert.deepEqual([1, 2, 3, 20].map((attempt) => delayBefore(attempt, 0.5)), [500, 1000, 2000, 4000]);
  assert.equal(streamUrl('a/b', { protocol: 'https:', host: 'x:1' }), 'wss://x:1/watch/a%2Fb');
});

test('links lead to the step, and to what is there', () => {
  const links = linksOf('m', 'http://x', true);
  assert.equal(links.page(7), 'http://x/matches/m?step=7');
  assert.match(links.embed(7), /^<iframe src="http:\/\/x\/embed\/m\?step=7"/);
  assert.deepEqual([links.record, links.bot('a/b'), links.bot('house:random'), links.why?.(1)],
    ['/api/v1/matches/m/record', '/bots/a%2Fb', null, '/matches/m/why/1']);
  assert.deepEqual([linksOf('m', '', false).record, linksOf('m', '', false).why], [null, null]);
});

test('times and results are said as people say them', () => {
  assert.deepEqual([7, 1234, 12_345, 75_000, 3_675_000].map(seconds), ['7 ms', '1.2 s', '12 s', '1:15', '1:01:15']);
  const header = headerOf(SNAPSHOT);
  const of = (places: number[]): Result => ({ places, scores: places.map(() => 0), causes: places.map(() => 'complete' as const), boards: [] });
  assert.equal(resultInWords(header, of([2, 1])), 'bob wins.');
  assert.equal(resultInWords(header, of([1, 1])), 'The match is a draw.');
  assert.equal(resultInWords(header, { ...of([2, 1]), causes: ['timeout', 'complete'] }), 'bob wins. ada: no move in time.');
});
