/** The renderers: one row per game that has one of its own. Each is a chunk that is loaded when it is first needed. */
import type { View } from '../replay/film';
import { generic } from './generic';
import type { Renderer } from './renderer';

// A renderer knows the views of its own game, and is never given others.
type Any = Renderer<never>;

const RENDERERS: Record<string, () => Promise<Any>> = {};

export async function rendererOf(game: string): Promise<Renderer<View>> {
  const load = RENDERERS[game];
  return load ? ((await load()) as unknown as Renderer<View>) : generic;
}
