/** The renderers: one row per game that has one of its own. Each is a chunk that is loaded when it is first needed. */
import { own } from '../own';
import type { Renderer } from './renderer';

const RENDERERS: Record<string, () => Promise<Renderer>> = {
  battlecube: async () => (await import('./battlecube')).battlecube,
  battleship: async () => (await import('./battleship')).battleship,
  gomoku: async () => (await import('./gomoku')).gomoku,
  'noughts-and-crosses': async () => (await import('./noughts_and_crosses')).noughtsAndCrosses,
  bumblebots: async () => (await import('./bumblebots')).bumblebots,
  bomberman: async () => (await import('./bomberman')).bomberman,
};

/** A renderer knows the views of its own game, and is given no others. */
export async function rendererOf(game: string): Promise<Renderer> {
  return (await own(RENDERERS, game)?.()) ?? (await import('./generic')).generic;
}
