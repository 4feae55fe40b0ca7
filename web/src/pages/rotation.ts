/** The rotation of scenes on TV. Pure: it needs no browser. */

/** Something to show on TV. Scenes with the same key show the same. */
export interface Scene<T> {
  /** Such as `leaderboard/gomoku`. */
  key: string;
  /** null: there is nothing to show. */
  load: (signal: AbortSignal) => Promise<T | null>;
}

/** A scene that is loaded, and its place in the rotation. */
export interface Ready<T> {
  key: string;
  at: number;
  loaded: T;
}

/** Milliseconds in which a scene must load. */
const PATIENCE = 10_000;

/** Whether a scene is one of those that the address names: `leaderboard` are all of them. Without names, all are. */
export function isWanted(key: string, names: readonly string[]): boolean {
  return !names.length || names.some((name) => key === name || key.startsWith(`${name}/`));
}

/** A live match before each of the other scenes, so that a hall never waits long for a board. */
export function mixed<T>(live: readonly T[], others: readonly T[]): T[] {
  if (!live.length || !others.length) return [...live, ...others];
  return others.flatMap((other, at) => [live[at % live.length]!, other]);
}

/** The scene that follows the shown one, loaded. Scenes that are empty or cannot be loaded are left out; null: there is no other. */
export async function nextScene<T>(scenes: readonly Scene<T>[], shown: Pick<Ready<T>, 'key' | 'at'> | null, by: 1 | -1, signal: AbortSignal): Promise<Ready<T> | null> {
  const from = placeOf(scenes, shown, by);
  for (let step = 1; step <= scenes.length && !signal.aborted; step++) {
    const at = (((from + by * step) % scenes.length) + scenes.length) % scenes.length;
    const { key, load } = scenes[at]!;
    if (key === shown?.key) continue;
    const loaded = await load(AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)])).catch(() => null);
    if (loaded) return { key, at, loaded };
  }
  return null;
}

/** Where the rotation goes on: the list may have changed since the scene was shown. */
function placeOf<T>(scenes: readonly Scene<T>[], shown: Pick<Ready<T>, 'key' | 'at'> | null, by: 1 | -1): number {
  if (!shown) return by > 0 ? -1 : 0;
  return scenes[shown.at]?.key === shown.key || by < 0 ? shown.at : shown.at - 1;
}
