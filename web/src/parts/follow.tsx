/** Bots and contests that the user follows: a list that this browser keeps, without an account. */
import { signal } from '@preact/signals';
import { keep, kept } from './storage';

export interface Followed {
  kind: 'bot' | 'contest';
  game: string;
  name: string;
}

const KEY = 'followed';
const MOST = 50;

export const followed = signal<readonly Followed[]>(readFollowed(kept(KEY)));

/** The stored list; anything else in its place counts as none. */
export function readFollowed(text: string | null): Followed[] {
  try {
    const found: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(found) ? found.filter(isFollowed).slice(-MOST) : [];
  } catch {
    return [];
  }
}

function isFollowed(value: unknown): value is Followed {
  const { kind, game, name } = (value ?? {}) as Record<string, unknown>;
  return (kind === 'bot' || kind === 'contest') && typeof game === 'string' && typeof name === 'string';
}

/** The list with one more, or without it. */
export function toggled(list: readonly Followed[], one: Followed): Followed[] {
  const others = list.filter(({ kind, game, name }) => kind !== one.kind || game !== one.game || name !== one.name);
  return others.length < list.length ? others : [...others, one].slice(-MOST);
}

/** The list with what other tabs have changed since this page was loaded. */
function newest(): readonly Followed[] {
  const stored = kept(KEY);
  return stored === null ? followed.value : readFollowed(stored);
}

export function FollowButton(one: Followed) {
  const follows = toggled(followed.value, one).length < followed.value.length;
  const change = () => keep(KEY, JSON.stringify((followed.value = toggled(newest(), one))));
  return <button type="button" aria-pressed={follows} aria-label={`${follows ? 'Following' : 'Follow'} ${one.name}`} title="Shown on the front page of this browser" onClick={change}>{follows ? '★ Following' : '☆ Follow'}</button>;
}
