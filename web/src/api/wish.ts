/** Wishes in addresses: the chosen opponent, pace and options, as the query of `/play/{game}`. */
import type { PaceName, PlayWish } from './player-state';

/** `match` is a running match to come back to. */
export function wishPath(wish: PlayWish, match: string | null = null): string {
  const query = new URLSearchParams();
  if (wish.opponent) query.set('opponent', wish.opponent);
  if (wish.invite) query.set('invite', wish.invite);
  query.set('pace', wish.pace);
  if (wish.players !== 2) query.set('players', String(wish.players));
  if (Object.keys(wish.options).length) query.set('options', JSON.stringify(wish.options));
  if (match !== null) query.set('match', match);
  return `/play/${encodeURIComponent(wish.game)}?${query}`;
}

/** Missing or unreadable values get their defaults. */
export function wishOf(game: string, query: URLSearchParams): PlayWish {
  const pace: PaceName = query.get('pace') === 'slow' ? 'slow' : 'stepped';
  const players = Number(query.get('players') ?? 2);
  return {
    game, pace, players: Number.isInteger(players) && players > 1 ? players : 2, options: optionsOf(query.get('options')),
    opponent: query.get('opponent') || null, invite: query.get('invite') || null,
  };
}

function optionsOf(text: string | null): Record<string, unknown> {
  try {
    const options: unknown = JSON.parse(text ?? '{}');
    return typeof options === 'object' && options && !Array.isArray(options) ? { ...options } : {};
  } catch {
    return {};
  }
}

/** Where the server tells the word by which the people of a match meet again; null: they share one already. */
export function rematchPath({ invite }: PlayWish, match: string, player: number): string | null {
  return invite ? null : `/matches/${match}/seats/${player}/rematch`;
}

/** Where the server tells which players wait with the word of a wish. */
export function invitePath({ invite }: PlayWish): string {
  return `/invites/${encodeURIComponent(invite ?? '')}`;
}

/** The display name of an opponent. */
export function opponentWords({ opponent, invite }: PlayWish): string {
  if (opponent?.startsWith('house:')) return `the house bot ${opponent.slice('house:'.length)}`;
  if (opponent) return opponent;
  return invite ? 'a friend' : 'anybody';
}
