/** The players beside the board: names, scores and clocks. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { FilmPlayer, Result } from '../replay/film';
import { CAUSES } from '../replay/words';
import { colourOf, signOf } from '../renderers/renderer';
import { toMove, type Digest } from './digest';
import type { Showing } from './showing';
import { number, ordinal, seconds } from './words';

/** More about a player than the film has. */
export interface PlayerFacts {
  owner?: string | null;
  rating?: number | null;
  protocol?: string | null;
}

interface PlayersProps extends Showing {
  facts: readonly PlayerFacts[];
  /** Milliseconds since the match began, by the clock of this page; null: the match is not live. */
  liveTime: (() => number) | null;
}

/** With more players, each has one line, and the list scrolls, also by keyboard. */
const FEW = 6;

export function Players({ film, digest, playback, links, facts, liveTime }: PlayersProps) {
  const index = Math.min(playback.index.value, film.length - 1);
  const frame = film.frame(index);
  const scores = digest.scores[index] ?? null;
  const result = frame.event?.event === 'ended' ? frame.event.result : null;
  const many = film.header.players.length > FEW;
  const awaited = new Set(frame.event?.event === 'ended' ? [] : toMove(frame));
  return (
    <ol class={many ? 'players many' : 'players'} aria-label="Players" tabIndex={many ? 0 : undefined}>
      {film.header.players.map((player, number) => (
        <li key={number} class={awaited.has(number) ? 'player awaited' : 'player'} style={{ '--seat': colourOf(number) }}>
          <span class="sign" aria-hidden="true">{signOf(number)}</span>
          <div class="player-who">
            <PlayerName player={player} href={links?.bot(player.name) ?? null} />
            <Facts {...player} {...facts[number]} house={player.name.startsWith('house:')} />
          </div>
          <div class="player-state">
            <Standing score={scores?.[number] ?? null} result={result} player={number} />
            <Clock {...{ film, digest, playback, index, liveTime }} player={number} awaited={awaited.has(number)} />
          </div>
        </li>
      ))}
    </ol>
  );
}

function PlayerName({ player, href }: { player: FilmPlayer; href: string | null }) {
  return <bdi class="player-name">{href ? <a href={href}>{player.name}</a> : player.name}</bdi>;
}

function Facts({ owner, rating, protocol, house }: PlayerFacts & { house: boolean }) {
  const facts: ComponentChildren[] = [];
  if (typeof rating === 'number') facts.push(<span title="Rating">{Math.round(rating)}</span>);
  if (house) facts.push('house bot');
  if (owner) facts.push(<bdi title="Owner">{owner}</bdi>);
  if (protocol) facts.push(<span title="Protocol">{protocol}</span>);
  return <span class="player-facts">{facts.map((fact, place) => [place ? ' · ' : '', fact])}</span>;
}

/** The score, and at the end the place. */
function Standing({ score, result, player }: { score: number | null; result: Result | null; player: number }) {
  if (!result) return score === null ? null : <span class="player-score">{number(score)}</span>;
  const cause = result.causes[player];
  return (
    <span class="player-score" title={cause && cause !== 'complete' ? CAUSES[cause] : undefined}>
      {number(result.scores[player] ?? 0)} <span class={`place place-${result.places[player]}`}>{ordinal(result.places[player] ?? 0)}</span>
    </span>
  );
}

interface ClockProps extends Pick<PlayersProps, 'film' | 'digest' | 'playback' | 'liveTime'> {
  index: number;
  player: number;
  awaited: boolean;
}

/** The time left while the player thinks; else the time of its last move. */
function Clock({ film, digest, playback, index, player, awaited, liveTime }: ClockProps) {
  const { limit } = film.header;
  const runs = awaited && (playback.following.value ? liveTime !== null : playback.speed.value === 'real' && playback.playing.value);
  useTicking(runs && playback.following.value);
  const opened = digest.opened[index] ?? 0;
  const now = playback.following.value && liveTime ? liveTime() : (digest.times[index] ?? 0) + playback.waited.value;
  const used = runs ? Math.max(0, now - opened) : lastThought(digest, index, player);
  if (used === null) return awaited ? <span class="clock">to move</span> : null;
  const share = limit ? Math.max(0, 1 - used / limit) : null;
  const words = runs && limit ? `${seconds(Math.max(0, limit - used))} left` : seconds(used);
  return (
    <span class={`clock${runs ? ' runs' : ''}${runs && share !== null && share < 0.2 ? ' short' : ''}`} title={limit ? `${seconds(limit)} for a move` : 'no limit for a move'}>
      <span class="hidden">{awaited ? 'to move, ' : ''}{runs ? '' : 'last move '}</span>
      {words}
      {share !== null && <i class="clock-bar" style={{ '--left': share }} aria-hidden="true" />}
    </span>
  );
}

/** Render again ten times a second. */
function useTicking(wanted: boolean): void {
  const [, tick] = useState(0);
  useEffect(() => {
    if (!wanted) return;
    const timer = setInterval(() => tick((count) => count + 1), 100);
    return () => clearInterval(timer);
  }, [wanted]);
}

function lastThought(digest: Digest, index: number, player: number): number | null {
  let low = 0;
  let high = digest.thoughts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (digest.thoughts[middle]!.index <= index) low = middle + 1;
    else high = middle;
  }
  for (let at = low - 1; at >= Math.max(0, low - FAR); at--) {
    const thought = digest.thoughts[at]!;
    if (thought.player === player) return thought.milliseconds;
  }
  return null;
}

/** The number of earlier moves to search for one by the same player. */
const FAR = 200;
