/** The keyboard shortcuts of the viewer. The help is made from the same list. */
import type { Playback } from './playback';

/** Actions of keys that do not belong to the playback. */
export interface Commands {
  playback: Playback;
  toMark: (direction: 1 | -1) => void;
  fullScreen: () => void;
  copyLink: () => void;
  help: () => void;
}

interface Hotkey {
  keys: readonly string[];
  shown: string;
  words: string;
  act: (commands: Commands) => void;
}

const LEAP = 10;

export const HOTKEYS: readonly Hotkey[] = [
  { keys: [' '], shown: 'Space', words: 'play or pause', act: ({ playback }) => playback.toggle() },
  { keys: ['ArrowLeft'], shown: '←', words: 'one frame back', act: ({ playback }) => playback.step(-1) },
  { keys: ['ArrowRight'], shown: '→', words: 'one frame on', act: ({ playback }) => playback.step(1) },
  { keys: ['ArrowDown', 'PageDown'], shown: '↓', words: 'ten frames back', act: ({ playback }) => playback.step(-LEAP) },
  { keys: ['ArrowUp', 'PageUp'], shown: '↑', words: 'ten frames on', act: ({ playback }) => playback.step(LEAP) },
  { keys: ['Home'], shown: 'Home', words: 'to the start', act: ({ playback }) => playback.seek(0) },
  { keys: ['End'], shown: 'End', words: 'to the end, or to the live position', act: ({ playback }) => playback.toLive() },
  { keys: ['p'], shown: 'p', words: 'to the mark before', act: ({ toMark }) => toMark(-1) },
  { keys: ['n'], shown: 'n', words: 'to the next mark', act: ({ toMark }) => toMark(1) },
  { keys: ['+', '='], shown: '+', words: 'faster', act: ({ playback }) => playback.changeSpeed(1) },
  { keys: ['-'], shown: '-', words: 'slower', act: ({ playback }) => playback.changeSpeed(-1) },
  { keys: ['r'], shown: 'r', words: 'real time', act: ({ playback }) => void (playback.speed.value = 'real') },
  { keys: ['f'], shown: 'f', words: 'full screen', act: ({ fullScreen }) => fullScreen() },
  { keys: ['c'], shown: 'c', words: 'copy a link to this step', act: ({ copyLink }) => copyLink() },
  { keys: ['?'], shown: '?', words: 'show these keys', act: ({ help }) => help() },
];

const BY_KEY = new Map(HOTKEYS.flatMap((hotkey) => hotkey.keys.map((key) => [key, hotkey.act] as const)));

/** Elements that take typing, and sliders of a board. Other elements that use a key call preventDefault. */
const TYPING = 'input:not(.seek-slider, [type=checkbox]), textarea, select, [contenteditable], dialog';
const PRESSED = 'button, a, summary, [type=checkbox]';

/** The action of a key, for a listener on the whole page; null: the viewer does not use this key. */
export function commandOf(event: KeyboardEvent): ((commands: Commands) => void) | null {
  const target = event.target instanceof Element ? event.target : null;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || target?.closest(TYPING)) return null;
  if (event.key === ' ' && target?.closest(PRESSED)) return null;
  return BY_KEY.get(event.key) ?? null;
}
