import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Film, Frame } from '../src/replay/film';
import { animation, pauseAfter, Playback, USUAL } from '../src/viewer/playback';

function film(times: number[], over = true): Film & { times: number[]; over: boolean } {
  const frame = (index: number): Frame => ({ t: times[index]!, event: null, view: {}, order: [] });
  return { header: { match: 'm', game: 'g', players: [], contest: null, started: 0, options: {}, limit: null }, times, over, frame, event: () => null, get length() { return times.length; } };
}

test('playing shows a frame for its time, and stops at the end', () => {
  const playback = new Playback(film([0, 10, 20]));
  playback.play();
  playback.advance(USUAL - 1);
  assert.equal(playback.index.value, 0);
  playback.advance(1);
  assert.equal(playback.index.value, 1);
  playback.advance(10 * USUAL);
  assert.deepEqual([playback.index.value, playback.playing.value], [2, false]);
});

test('playing from the end begins anew', () => {
  const playback = new Playback(film([0, 10, 20]), 2);
  playback.toggle();
  assert.deepEqual([playback.index.value, playback.playing.value], [0, true]);
});

test('the speed says how long a frame is shown; real time goes by the clock of the match', () => {
  const played = film([0, 10, 2010]);
  assert.equal(pauseAfter(played, 0, 4), USUAL / 4);
  assert.equal(pauseAfter(played, 1, 'real'), 2000);
  const playback = new Playback(played);
  playback.speed.value = 'real';
  playback.play();
  playback.advance(1000);
  assert.deepEqual([playback.index.value, playback.waited.value], [1, 990]);
});

test('what is too fast to be seen is not animated', () => {
  const played = film([0, 1, 2]);
  assert.equal(animation(played, 0, 16), 0);
  assert.ok(animation(played, 0, 1) > 0);
});

test('a single step is animated, a jump is not, and neither leaves the film', () => {
  const playback = new Playback(film([0, 1, 2]));
  playback.step(1);
  assert.ok(playback.stepTime.value > 0);
  playback.seek(99);
  assert.deepEqual([playback.index.value, playback.stepTime.value], [2, 0]);
  playback.step(-9);
  assert.equal(playback.index.value, 0);
});

test('a live match is followed until the user goes back, and again from its newest frame on', () => {
  const live = film([0, 1], false);
  const playback = new Playback(live, 1);
  assert.equal(playback.following.value, true);
  live.times.push(2);
  playback.grow();
  assert.equal(playback.index.value, 2);
  playback.step(-1);
  live.times.push(3);
  playback.grow();
  assert.deepEqual([playback.index.value, playback.following.value], [1, false]);
  playback.toLive();
  assert.deepEqual([playback.index.value, playback.following.value], [3, true]);
});

test('playing a live match leads on to following it, and a pause stops that', () => {
  const live = film([0, 1, 2], false);
  const playback = new Playback(live, 0);
  playback.play();
  playback.advance(10 * USUAL);
  assert.deepEqual([playback.index.value, playback.playing.value, playback.following.value], [2, false, true]);
  playback.toggle();
  live.times.push(3);
  playback.grow();
  assert.equal(playback.index.value, 2);
});

test('the end of a live match ends following', () => {
  const live = film([0, 1], false);
  const playback = new Playback(live, 1);
  live.times.push(2);
  live.over = true;
  playback.grow();
  assert.deepEqual([playback.index.value, playback.following.value], [2, false]);
});

test('speeds go up and down one by one, within their bounds', () => {
  const playback = new Playback(film([0]));
  playback.changeSpeed(1);
  assert.equal(playback.speed.value, 2);
  for (let count = 0; count < 20; count += 1) playback.changeSpeed(-1);
  assert.equal(playback.speed.value, 0.25);
  playback.speed.value = 'real';
  playback.changeSpeed(1);
  assert.equal(playback.speed.value, 2);
});

test('marks are gone through in both directions', () => {
  const playback = new Playback(film([0, 1, 2, 3, 4]));
  const marks = [{ index: 1 }, { index: 3 }];
  playback.toMark(marks, 1);
  playback.toMark(marks, 1);
  assert.equal(playback.index.value, 3);
  playback.toMark(marks, 1);
  assert.equal(playback.index.value, 4);
  playback.toMark(marks, -1);
  assert.equal(playback.index.value, 3);
});
