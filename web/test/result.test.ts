import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readFilm } from '../src/replay/stored';
import { headerOf, LiveFilm } from '../src/viewer/live-film';
import { headlineOf } from '../src/viewer/result';

const film = (name: string) => readFilm(readFileSync(`test/films/${name}.jsonl`, 'utf8'));

test('a match that ended by its rules has the headline of the winner', () => {
  const shown = film('gomoku');
  assert.deepEqual(headlineOf(shown), { player: 0, name: shown.header.players[0]?.name, words: 'won at step 19' });
});

test('a match with a fault has the headline of the player at fault', () => {
  assert.equal(headlineOf(film('troubles'))?.words, 'aborted at step 4');
});

test('a live match has no headline yet', () => {
  const live = new LiveFilm(headerOf({ match: 'm', game: 'g', players: ['ada'], contest: null, started: 5, snapshot: true, t: 0, bots: ['ada'], view: {} }));
  assert.equal(headlineOf(live), null);
});
