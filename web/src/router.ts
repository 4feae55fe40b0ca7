/** Router: which page an address leads to. One row per page; each page is a chunk that is loaded when it is first shown. */
import { computed, signal } from '@preact/signals';
import type { ComponentType } from 'preact';

/** The parts of the path that a route names. */
export type Params = Record<string, string>;
export type Page = ComponentType<{ params: Params }>;

interface Route {
  pattern: RegExp;
  names: string[];
  load: () => Promise<{ default: Page }>;
}

export interface Found {
  load: Route['load'];
  params: Params;
}

const ROUTES: Route[] = [
  route('/', () => import('./pages/front')),
  route('/matches/{id}', () => import('./pages/match')),
  route('/embed/{id}', () => import('./pages/embed')),
  route('/open', () => import('./pages/open')),
  route('/play', () => import('./pages/play')),
  route('/play/{game}', () => import('./pages/play-game')),
  route('/matches', () => import('./pages/matches')),
  route('/matches/{id}/why/{seat}', () => import('./pages/why')),
  route('/matches/{id}/continue', () => import('./pages/continue')),
  route('/games', () => import('./pages/games')),
  route('/games/{game}', () => import('./pages/game')),
  route('/bots', () => import('./pages/bots')),
  route('/bots/{name*}', () => import('./pages/bot')),
  route('/compare', () => import('./pages/compare')),
  route('/contests', () => import('./pages/contests')),
  route('/contests/{game}/{name*}', () => import('./pages/contest')),
  route('/search', () => import('./pages/search')),
  route('/tv', () => import('./pages/tv')),
  route('/duel', () => import('./pages/duel')),
  route('/profile/{name*}', () => import('./pages/duellist')),
  route('/history', () => import('./pages/history')),
  route('/board/{id}', () => import('./pages/board')),
  route('/join-class', () => import('./pages/join-class')),
  route('/upload', () => import('./pages/upload')),
  route('/class', () => import('./pages/class')),
  route('/organise', () => import('./pages/organise')),
  route('/organise/{part}', () => import('./pages/organise')),
];

/** The pages that other sites may show in a frame. All others refuse that, but only while they load. */
export const EMBED = '/embed/';

/** The address that is shown: path and query. */
export const address = signal(here());
export const path = computed(() => address.value.split('?')[0] ?? '/');
export const query = computed(() => new URLSearchParams(address.value.split('?')[1] ?? ''));

export function find(shown: string): Found | null {
  for (const { pattern, names, load } of ROUTES) {
    const match = pattern.exec(shown);
    if (match) return { load, params: Object.fromEntries(names.map((name, i) => [name, decoded(match[i + 1] ?? '')])) };
  }
  return null;
}

/** Show another page, or the same one with another query. `replace`: the back button leads past this one. */
export function go(to: string, replace = false): void {
  if (location.pathname.startsWith(EMBED) && !to.startsWith(EMBED)) return location.assign(to);
  history[replace ? 'replaceState' : 'pushState'](null, '', to);
  address.value = here();
  if (!replace) scrollTo(0, 0);
}

/** Let links within the pages change the page without a reload. */
export function follow(): void {
  addEventListener('popstate', () => (address.value = here()));
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || !isPlainClick(event) || link.target || link.hasAttribute('download')) return;
    const url = new URL(link.href);
    if (url.origin !== location.origin || url.hash || !find(url.pathname)) return;
    event.preventDefault();
    go(url.pathname + url.search);
  });
}

/** `{name}` stands for one part of the path, `{name*}` for the rest of it. */
function route(shape: string, load: Route['load']): Route {
  const names = [...shape.matchAll(/{(\w+)\*?}/g)].map((match) => match[1]!);
  const pattern = shape.replace(/{\w+\*}/g, '(.+)').replace(/{\w+}/g, '([^/]+)');
  return { pattern: new RegExp(`^${pattern}/?$`), names, load };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function here(): string {
  return location.pathname + location.search;
}

function isPlainClick(event: MouseEvent): boolean {
  return event.button === 0 && !event.defaultPrevented && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
}
