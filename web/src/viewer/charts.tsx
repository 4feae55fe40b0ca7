/** Score over time and thinking time per move. */
import { useMemo } from 'preact/hooks';
import type { Film } from '../replay/film';
import { Chart, type ChartData, type Series } from './chart';
import type { Digest, Thought } from './digest';
import { stepOf, type Showing } from './showing';
import { nameOf, number, seconds } from './words';

/** The most lines that can be told apart. */
const MOST_PLAYERS = 10;

/** Rendered again as the digest grows; only the needles follow the playback. */
export function Charts({ film, digest, playback, version }: Showing) {
  return useMemo(() => {
    const label = (index: number) => String(stepOf(digest, index));
    const common = { version, playback, label, players: Math.min(MOST_PLAYERS, film.header.players.length) };
    const scored = digest.scores.length > 1 && digest.scores.some((scores) => scores !== null);
    return (
      <div class="charts">
        {scored && <Chart {...common} title="Score over time" data={() => scoreData(film, digest)} unit={number} summary={scoresInWords(film, digest)} />}
        {digest.thoughts.some(({ milliseconds }) => milliseconds > 0) && (
          <Chart {...common} dots title="Thinking time per move" data={() => thoughtData(film, digest)} unit={seconds} summary={thoughtsInWords(film, digest.thoughts)} />
        )}
      </div>
    );
  }, [film, digest, version]);
}

function shownPlayers(film: Film): { player: number; name: string }[] {
  return film.header.players.slice(0, MOST_PLAYERS).map(({ name }, player) => ({ player, name }));
}

export function scoreData(film: Film, { scores }: Digest): ChartData {
  const series: Series[] = shownPlayers(film).map((one) => ({ ...one, values: scores.map((row) => row?.[one.player] ?? null) }));
  return { x: scores.map((_, index) => index), series };
}

export function thoughtData(film: Film, { thoughts }: Digest): ChartData {
  const x = [...new Set(thoughts.map(({ index }) => index))];
  const places = new Map(x.map((index, place) => [index, place]));
  const series: Series[] = shownPlayers(film).map((one) => ({ ...one, values: x.map(() => null) }));
  for (const { index, player, milliseconds } of thoughts) {
    const values = series[player]?.values;
    if (values) values[places.get(index)!] = milliseconds;
  }
  return { x, series };
}

function scoresInWords(film: Film, { scores }: Digest): string {
  const last = scores.findLast((row) => row !== null);
  return film.header.players.map(({ name }, player) => `${name}: ${number(last?.[player] ?? 0)}`).join('; ');
}

export function thoughtsInWords(film: Film, thoughts: readonly Thought[]): string {
  const parts = film.header.players.map((_, player) => {
    const times = thoughts.filter((thought) => thought.player === player).map(({ milliseconds }) => milliseconds);
    if (!times.length) return `${nameOf(film.header, player)}: none`;
    const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
    return `${nameOf(film.header, player)}: ${seconds(mean)} on average, ${seconds(times.reduce((most, time) => Math.max(most, time), 0))} at most`;
  });
  return parts.join('; ');
}
