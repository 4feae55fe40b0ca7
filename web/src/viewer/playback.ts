/** Playback: the current frame, and how the frames advance. It reads no clock: `advance` receives the elapsed time. */
import { signal } from '@preact/signals';
import type { Film } from '../replay/film';

/** Factors of the usual speed; 'real': the speed at which it was played. */
export type Speed = number | 'real';

export const SPEEDS: readonly number[] = [0.25, 0.5, 1, 2, 4, 8, 16];
/** Milliseconds that a frame is shown at speed 1. */
export const USUAL = 400;
/** Milliseconds of animation for a manual step. */
export const BY_HAND = 200;
/** Above this speed, moves are not animated. */
const LEAST_ANIMATED = 60;
/** The most frames that one call of `advance` passes, so that no match keeps the page busy. */
const MOST_AT_ONCE = 500;

export class Playback {
  readonly index = signal(0);
  readonly playing = signal(false);
  /** Whether the newest frame of a live match is shown. */
  readonly following = signal(false);
  readonly speed = signal<Speed>(1);
  /** Milliseconds for which the change to the present frame is animated; 0: it was a jump. */
  readonly stepTime = signal(0);
  /** Real time since the present frame, where that speed is chosen. */
  readonly waited = signal(0);

  constructor(
    public film: Film,
    index = 0,
  ) {
    this.index.value = clamp(index, film.length);
    this.following.value = !film.over && index >= film.length - 1;
  }

  get last(): number {
    return Math.max(0, this.film.length - 1);
  }

  /** Go to any frame. */
  seek(index: number): void {
    this.#show(index, 0);
    this.#settle();
  }

  /** Go on or back by some frames; a single one is animated. */
  step(by: number): void {
    this.playing.value = false;
    this.#show(this.index.value + by, Math.abs(by) === 1 ? BY_HAND : 0);
    this.#settle();
  }

  /** Play from here, or from the start if this is the end; a live match is followed from its newest frame on. */
  play(): void {
    if (this.index.value >= this.last) {
      if (!this.film.over) return void (this.following.value = true);
      this.#show(0, 0);
    }
    this.waited.value = 0;
    this.playing.value = true;
  }

  pause(): void {
    this.playing.value = false;
    this.following.value = false;
  }

  toggle(): void {
    if (this.playing.value || this.following.value) this.pause();
    else this.play();
  }

  /** Follow a live match: show its newest frame, now and later. */
  toLive(): void {
    this.playing.value = false;
    this.#show(this.last, 0);
    this.following.value = !this.film.over;
  }

  /** Go to the next or previous frame with a mark, or to the end of the film if there is none. */
  toMark(marks: readonly { index: number }[], way: 1 | -1): void {
    const here = this.index.value;
    const found = way > 0 ? marks.find(({ index }) => index > here) : marks.findLast(({ index }) => index < here);
    this.seek(found?.index ?? (way > 0 ? this.last : 0));
  }

  /** One speed more or less. */
  changeSpeed(by: 1 | -1): void {
    const now = SPEEDS.indexOf(this.speed.value === 'real' ? 1 : this.speed.value);
    this.speed.value = SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, now + by))] ?? 1;
  }

  /** The film has more frames, or is over. */
  grow(): void {
    if (!this.following.value) return;
    const by = this.last - this.index.value;
    if (by) this.#show(this.last, by <= 2 ? BY_HAND : 0);
    if (this.film.over) this.following.value = false;
  }

  /** Switch to another film of the same match; `index` is the current frame in it. */
  replace(film: Film, index: number): void {
    this.film = film;
    this.following.value &&= !film.over;
    this.#show(index, 0);
  }

  /** Show the frame that is due after this time. */
  advance(milliseconds: number): void {
    if (!this.playing.value) return;
    let index = this.index.value;
    let left = this.waited.value + milliseconds;
    const first = index;
    while (index < this.last && index - first < MOST_AT_ONCE) {
      const pause = pauseAfter(this.film, index, this.speed.value);
      if (left < pause) break;
      left -= pause;
      index += 1;
    }
    if (index !== first) this.#show(index, animation(this.film, index - 1, this.speed.value));
    this.waited.value = left;
    if (index >= this.last) this.#arrive();
  }

  #arrive(): void {
    this.playing.value = false;
    this.waited.value = 0;
    this.following.value = !this.film.over;
  }

  #show(index: number, stepTime: number): void {
    this.stepTime.value = stepTime;
    this.waited.value = 0;
    this.index.value = clamp(index, this.film.length);
  }

  /** After a manual move: follow a live match if its newest frame is shown. */
  #settle(): void {
    this.following.value = !this.film.over && this.index.value >= this.last;
    if (this.index.value >= this.last) this.playing.value = false;
  }
}

/** Milliseconds from one frame to the next. */
export function pauseAfter(film: Film, index: number, speed: Speed): number {
  if (speed !== 'real') return USUAL / speed;
  return Math.max(0, film.frame(index + 1).t - film.frame(index).t);
}

/** Milliseconds for which the move from one frame to the next is animated. */
export function animation(film: Film, index: number, speed: Speed): number {
  const pause = pauseAfter(film, index, speed);
  return pause < LEAST_ANIMATED ? 0 : Math.min(BY_HAND, pause * 0.7);
}

function clamp(index: number, length: number): number {
  return Math.max(0, Math.min(Math.trunc(index) || 0, length - 1));
}
