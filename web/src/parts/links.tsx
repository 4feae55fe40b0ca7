/** Links to bots, games, contests and matches. Names are clients' own, so each keeps its own direction of writing. */
import type { ComponentChildren } from 'preact';
import { gameTitle } from '../pages/rules';
import { contestTitle } from './contest-title';

export function botPath(name: string): string {
  return `/bots/${encodeURIComponent(name)}`;
}

export function contestPath(game: string, name: string): string {
  return `/contests/${encodeURIComponent(game)}/${encodeURIComponent(name)}`;
}

export function matchPath(id: string, step?: number): string {
  return `/matches/${encodeURIComponent(id)}${step === undefined ? '' : `?step=${step}`}`;
}

export function BotLink({ name, game }: { name: string; game?: string }) {
  if (name.startsWith('house:')) return <HouseName name={name} {...(game ? { game } : {})} />;
  return <a class="name" href={botPath(name)}><bdi>{name}</bdi></a>;
}

function HouseName({ name, game }: { name: string; game?: string }) {
  const shown = <><bdi>{name.slice('house:'.length)}</bdi> <span class="badge">house</span></>;
  return game ? <a class="name" href={`/games/${game}`}>{shown}</a> : <span class="name">{shown}</span>;
}

export function GameLink({ game }: { game: string }) {
  return <a href={`/games/${encodeURIComponent(game)}`}>{gameTitle(game)}</a>;
}

export function ContestLink({ game, name }: { game: string; name: string }) {
  return <a class="name" href={contestPath(game, name)}><bdi>{contestTitle(game, name)}</bdi></a>;
}

export function MatchLink({ id, children }: { id: string; children?: ComponentChildren }) {
  return <a href={matchPath(id)}>{children ?? <span class="mono">{id.slice(0, 8)}</span>}</a>;
}
