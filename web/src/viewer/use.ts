/** Hooks of the viewer: the growing digest, the clock of the playback, and the keys. */
import { effect, useSignal, type ReadonlySignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Film } from '../replay/film';
import type { Renderer } from '../renderers/renderer';
import { Digest } from './digest';
import { commandOf, type Commands } from './keys';
import type { Playback } from './playback';

/** Frames that are digested at once, and for how many milliseconds that may go on before the page is let go on. */
const SOME = 32;
const SLICE = 8;
/** Frames that are digested before anything is shown. */
const FRESH = 8;

export interface Digested {
  digest: Digest;
  /** Changes as the digest grows. */
  version: number;
}

/** `step`: the digest reaches at least as far when it is first shown. */
export function useDigest(film: Film, renderer: Renderer, grown: number, step: number): Digested {
  const version = useSignal(0);
  const digest = useMemo(() => begun(film, renderer, step), [film, renderer]);
  digest.read(FRESH); // so that charts and board of a live match show the same step
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const go = () => {
      if (readFor(digest, SLICE)) timer = setTimeout(go);
      version.value = digest.length;
    };
    go();
    return () => clearTimeout(timer);
  }, [digest, grown]);
  return { digest, version: Math.max(version.value, digest.length) };
}

function begun(film: Film, renderer: Renderer, step: number): Digest {
  const digest = new Digest(film, renderer);
  while (digest.read(SOME) && (digest.steps.at(-1) ?? 0) <= step);
  return digest;
}

function readFor(digest: Digest, milliseconds: number): boolean {
  const end = performance.now() + milliseconds;
  while (digest.read(SOME)) if (performance.now() > end) return true;
  return false;
}

/** Let time pass for the playback while it plays. */
export function usePlaying(playback: Playback): void {
  useEffect(() => effect(() => (playback.playing.value ? ticking((elapsed) => playback.advance(elapsed)) : undefined)), [playback]);
}

/** Call with the milliseconds since the last call, once per picture of the screen, until stopped. */
function ticking(tell: (elapsed: number) => void): () => void {
  let last = performance.now();
  let request = requestAnimationFrame(function tick(now) {
    request = requestAnimationFrame(tick);
    tell(Math.max(0, now - last));
    last = now;
  });
  return () => cancelAnimationFrame(request);
}

export function useHotkeys(commands: Commands): void {
  const latest = useRef(commands);
  latest.current = commands;
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      const act = commandOf(event);
      if (!act) return;
      event.preventDefault();
      act(latest.current);
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}

/** The value of an optional signal. */
export function read<T>(value: ReadonlySignal<T> | undefined, otherwise: T): T {
  return value ? value.value : otherwise;
}
