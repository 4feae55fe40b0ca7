/** Sounds of a match, made by the browser itself. They are off until the user turns them on; this browser remembers it. */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Digest } from '../viewer/digest';
import { keep, kept } from './storage';

export type Sound = 'move' | 'capture' | 'end' | 'low time';

const KEY = 'sounds';
/** Milliseconds left at which a player is warned. */
export const LOW_TIME = 10_000;
const LOUDNESS = 0.15;
/** The notes of each sound: hertz and seconds. */
const NOTES: Record<Sound, readonly (readonly [number, number])[]> = {
  move: [[440, 0.07]],
  capture: [[330, 0.08], [220, 0.14]],
  end: [[523, 0.12], [659, 0.12], [784, 0.3]],
  'low time': [[880, 0.09], [880, 0.09]],
};

const on = signal(kept(KEY) === 'on');
let context: AudioContext | null = null;

export function sound(which: Sound): void {
  if (!on.value) return;
  context ??= new AudioContext();
  void context.resume();
  let at = context.currentTime;
  for (const [hertz, seconds] of NOTES[which]) {
    const [tone, volume] = [context.createOscillator(), context.createGain()];
    tone.frequency.value = hertz;
    volume.gain.setValueAtTime(LOUDNESS, at);
    volume.gain.exponentialRampToValueAtTime(0.001, at + seconds);
    tone.connect(volume).connect(context.destination);
    tone.start(at);
    tone.stop((at += seconds));
  }
}

export function SoundSwitch() {
  const change = () => {
    on.value = !on.value;
    keep(KEY, on.value ? 'on' : 'off');
    sound('move');
  };
  return <button type="button" aria-pressed={on.value} onClick={change}>Sounds {on.value ? 'on' : 'off'}</button>;
}

/** The sound of the frames from `from` on; null: none of them is heard. */
export function soundOf(digest: Digest, from: number): Sound | null {
  const events = digest.events.slice(from).map((event) => event?.event);
  if (events.includes('ended') || events.includes('board ended')) return 'end';
  if (digest.marks.some(({ index, kind }) => index >= from && (kind === 'capture' || kind === 'out'))) return 'capture';
  return events.includes('played') ? 'move' : null;
}

/** Play the sounds of new frames. */
export function useSounds(digest: Digest | null): void {
  const heard = useRef<number | null>(null);
  const length = digest?.length ?? 0;
  useEffect(() => {
    const which = digest && heard.current !== null && heard.current < length ? soundOf(digest, heard.current) : null;
    if (digest) heard.current = length;
    if (which) sound(which);
  }, [digest, length]);
}

/** Warn once when little time is left, unless there never was much. `ends`: by the clock of this page; null: there is no limit. */
export function useLowTime(ends: number | null, mine: boolean): void {
  useEffect(() => {
    const left = ends === null ? 0 : ends - performance.now() - LOW_TIME;
    if (!mine || left <= 0) return undefined;
    const timer = setTimeout(() => sound('low time'), left);
    return () => clearTimeout(timer);
  }, [ends, mine]);
}
