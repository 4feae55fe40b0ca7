/** The titles of contests, by game and name: loaded when one is shown, and again when a contest is unknown. */
import { signal } from '@preact/signals';
import { ask } from '../api/rest';
import type { ContestTitles } from '../api/types';

const AGAIN = 30_000;
const titles = signal<ReadonlyMap<string, string>>(new Map());
let asked = -Infinity;

/** The title of a contest; its name, if it has none or it is loading. */
export function contestTitle(game: string, name: string): string {
  const found = titles.value.get(`${game} ${name}`);
  if (found === undefined && performance.now() - asked > AGAIN) void load();
  return found ?? name;
}

async function load(): Promise<void> {
  asked = performance.now();
  const found = await ask<ContestTitles>('/contest-titles').catch(() => null);
  if (found) titles.value = new Map(found.contests.map(({ game, name, title }) => [`${game} ${name}`, title]));
}
