import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { applied } from '../src/replay/change';
import { readFilm } from '../src/replay/stored';
import { eventInWords } from '../src/replay/words';

const NAMES = readdirSync('test/films').flatMap((file) => (file.endsWith('.jsonl') ? [file.replace('.jsonl', '')] : []));
const VIEWS = JSON.parse(readFileSync('test/films/views.json', 'utf8')) as Record<string, Record<string, unknown>>;

function film(name: string) {
  return readFilm(readFileSync(`test/films/${name}.jsonl`, 'utf8'));
}

test('changes are applied as docs/watching.md says, and leave the old value as it was', () => {
  const old = { a: 1, b: [1, 2, 3], c: { d: 1, e: 2 } };
  const change = { a: [], b: { 1: [5], length: [2] }, c: { e: [], f: [[]] }, g: [null] };
  assert.deepEqual(applied(change, old), { b: [1, 5], c: { d: 1, f: [] }, g: null });
  assert.deepEqual(old, { a: 1, b: [1, 2, 3], c: { d: 1, e: 2 } });
  assert.deepEqual(applied({ 2: [7] }, [1, 2]), [1, 2, 7]);
  assert.equal(applied([4], old), 4);
});

for (const name of NAMES) {
  test(`the views of ${name} are those of the game, in any order`, () => {
    const shown = film(name);
    const wanted = Object.entries(VIEWS[name] ?? {});
    for (const [index, view] of [...wanted, ...wanted.toReversed()]) {
      assert.equal(JSON.stringify(shown.frame(Number(index)).view), JSON.stringify(view));
    }
  });
}

test('a film goes from one end to the other and back', () => {
  const shown = film('bomberman');
  const there = Array.from({ length: shown.length }, (_, index) => JSON.stringify(shown.frame(index)));
  const back = Array.from({ length: shown.length }, (_, index) => JSON.stringify(shown.frame(shown.length - 1 - index)));
  assert.deepEqual(back.toReversed(), there);
});

test('what did not change is shared with the frame before', () => {
  const shown = film('bomberman');
  assert.equal(shown.frame(2).view['tiles'], shown.frame(1).view['tiles']);
});

test('the header of a film, and the seats on each board', () => {
  const shown = film('gomoku');
  assert.deepEqual(shown.header.players, [{ name: 'bot 0' }, { name: 'bot 1' }]);
  assert.deepEqual([shown.header.game, shown.header.match, shown.header.limit, shown.over], ['gomoku', null, 5000, true]);
  assert.deepEqual(shown.frame(0).order, [0, 1]);
  assert.deepEqual(shown.frame(shown.length - 1).order, [1, 0]);
});

test('what is no film says so', () => {
  assert.throws(() => readFilm(''), /The film is empty/);
  assert.throws(() => readFilm('{"film":2}'), /This page shows films of version 1, not 2/);
  assert.throws(() => readFilm('{"film":1}\n'), /The film has no beginning/);
  assert.throws(() => film('gomoku').frame(99), /There is no frame 99: the film has 24/);
});

test('events in words', () => {
  const shown = film('troubles');
  const named = (player: number) => shown.header.players[player]?.name ?? '';
  const words = Array.from({ length: shown.length }, (_, index) => eventInWords(shown.frame(index).event!, named));
  assert.deepEqual(words, [
    'Board 1 begins: ada, bob and <b>cy</b>.',
    'ada: a move was refused: a board has 10 rows, not 1.',
    'bob is gone.',
    'No public move.',
    'ada: {"target":1,"x":2,"y":3}.',
    'bob is back.',
    "bob: a move was refused: don't shoot at yourself.",
    'No public move.',
    'bob: a move came 2500 ms too late.',
    '<b>cy</b> is out: the program crashed (it fell over).',
    'No public move.',
    'The match ends: aborted, so that it counts for nobody.',
  ]);
});

test('results in words', () => {
  const named = (player: number) => ['ada', 'bob', 'cy'][player] ?? '';
  const ended = (places: number[], scores: number[]) =>
    eventInWords({ event: 'board ended', board: 1, result: { places, scores, causes: places.map(() => 'complete') } }, named);
  assert.equal(ended([1, 2], [3, 0.333333]), 'Board 2 ends: ada wins (3 : 0.33).');
  assert.equal(ended([1, 1, 3], [2, 2, 0]), 'Board 2 ends: ada and bob share the first place (2 : 2 : 0).');
  assert.equal(eventInWords({ event: 'amended', options: { edge: 4 } }, named), 'The options change: edge 4.');
  assert.equal(eventInWords({ event: 'refused', player: 0, why: 'no', move: null, strikes: 2 }, named), 'ada: a move was refused (illegal move 2): no.');
});
