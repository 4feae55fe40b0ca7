/** Words of the viewer that are the same for all games. */
import type { Film, FilmHeader, Result } from '../replay/film';
import { CAUSES, eventInWords } from '../replay/words';
import type { Digest } from './digest';

export function nameOf(header: FilmHeader, player: number): string {
  return header.players[player]?.name ?? `player ${player + 1}`;
}

/** The players' names for a heading; for a long list the first three and the number of others. */
export function headingNames({ players }: FilmHeader): string[] {
  const names = players.map(({ name }) => name);
  return names.length > 4 ? [...names.slice(0, 3), `${names.length - 3} others`] : names;
}

/** One line about a frame. */
export function frameInWords(film: Film, index: number, digest: Digest): string {
  const { renderer } = digest;
  const { event, view, order } = film.frame(index);
  if (!event) return 'From here on, the match is seen live.';
  const named = (player: number) => nameOf(film.header, player);
  const seats = order.map((player) => ({ player, name: named(player) }));
  return eventInWords(event, named, (move) => renderer.moveInWords?.(move, view, seats) ?? short(move), digest.happened(index), renderer.silent?.(view, seats));
}

/** The winner, and what another player did wrong. */
export function resultInWords(header: FilmHeader, result: Result): string {
  return outcomeInWords(header.players.map(({ name }) => name), result);
}

export function outcomeInWords(names: readonly string[], { places, scores, causes }: Result): string {
  if (causes.includes('aborted')) return 'The match was aborted.';
  const first = places.flatMap((place, player) => (place === 1 ? [names[player] ?? `player ${player + 1}`] : []));
  if (places.length === 1) return `${first[0]} ends with ${number(scores[0] ?? 0)} points.`;
  const faulty = causes.flatMap((cause, player) => (cause === 'complete' ? [] : [`${names[player] ?? `player ${player + 1}`}: ${CAUSES[cause]}`]));
  if (first.length === 1) return [`${first[0]} wins`, ...(faulty.length === 1 ? faulty : [])].join('. ') + '.';
  return first.length === places.length ? 'The match is a draw.' : `${first.slice(0, -1).join(', ')} and ${first.at(-1)} share the first place.`;
}

/** 12, 12.5 or 12.25. */
export function number(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** 1st, 2nd, 3rd, 4th, ... */
export function ordinal(place: number): string {
  const ending = place % 100 >= 11 && place % 100 <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][place % 10] ?? 'th');
  return `${place}${ending}`;
}

/** Milliseconds in readable units. */
export function seconds(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;
  const all = Math.floor(milliseconds / 1000);
  const parts = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  return (parts[0] ? parts : parts.slice(1)).map((part, place) => (place ? String(part).padStart(2, '0') : String(part))).join(':');
}

function short(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
