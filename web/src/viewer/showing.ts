/** Showing: the state that the parts of the viewer share while they show one match. */
import { effect } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Film } from '../replay/film';
import type { Renderer } from '../renderers/renderer';
import type { Digest } from './digest';
import type { Links } from './links';
import { Playback } from './playback';
import { useDigest, usePlaying } from './use';
import { frameInWords } from './words';

export interface Showing {
  film: Film;
  renderer: Renderer;
  playback: Playback;
  digest: Digest;
  /** Changes as the digest grows. */
  version: number;
  links: Links | null;
  /** A frame in one line. */
  inWords: (index: number) => string;
}

interface Wanted {
  film: Film;
  renderer: Renderer;
  grown: number;
  step?: number | null;
  links?: Links | null;
  onStep?: ((step: number | null) => void) | undefined;
}

/** Milliseconds without a change before a step is reported, since browsers limit changes of the address. */
const REST = 200;

export function useShowing({ film, renderer, grown, step = null, links = null, onStep }: Wanted): Showing {
  const { digest, version } = useDigest(film, renderer, grown, step ?? 0);
  const playback = useMemo(() => new Playback(film, step === null ? film.length - 1 : digest.indexOf(step)), []);
  useSameMoment(playback, digest);
  usePlaying(playback);
  useLayoutEffect(() => playback.grow(), [grown]); // before the screen is painted
  useTelling(playback, digest, onStep);
  const inWords = useMemo(() => remembered((index) => frameInWords(film, index, digest), () => digest.length), [film, digest]);
  return { film, renderer, playback, digest, version, links, inWords };
}

/** The number of steps played at a frame, which the digest may not have reached yet. */
export function stepOf({ steps, film }: Digest, index: number): number {
  for (let at = index; at >= steps.length; at -= 1) {
    const event = film.event(at);
    if (event?.event === 'played') return event.step + 1;
  }
  return Math.max(0, steps[Math.min(index, steps.length - 1)] ?? 0);
}

/** Stay at the same step when the stored film of a match replaces the live one. */
function useSameMoment(playback: Playback, digest: Digest): void {
  const before = useRef(digest);
  if (before.current === digest) return;
  const index = Math.min(playback.index.value, before.current.length - 1);
  const atEnd = index >= before.current.length - 1;
  const step = stepOf(before.current, index);
  before.current = digest;
  if (!atEnd) digest.read();
  playback.replace(digest.film, atEnd ? digest.film.length - 1 : digest.indexOf(step));
}

/** Report the step at which the user stopped; null: the user follows a live match. */
function useTelling(playback: Playback, digest: Digest, tell: ((step: number | null) => void) | undefined): void {
  useEffect(() => {
    if (!tell) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let first = true;
    const stop = effect(() => {
      const [index, plays, follows] = [playback.index.value, playback.playing.value, playback.following.value];
      clearTimeout(timer);
      if (!first && !plays) timer = setTimeout(() => tell(follows ? null : stepOf(digest, index)), REST);
      first = false;
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [playback, digest, tell]);
}

/** Caches the values computed for a few hundred indexes below `known`. */
function remembered(compute: (index: number) => string, known: () => number): (index: number) => string {
  const kept = new Map<number, string>();
  return (index) => {
    const found = kept.get(index);
    if (found !== undefined) return found;
    if (kept.size > MOST_KEPT) kept.clear();
    const words = compute(index);
    if (index < known()) kept.set(index, words);
    return words;
  };
}

const MOST_KEPT = 500;
