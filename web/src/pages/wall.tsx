/** The live wall: one featured match, and boards of all games that are live. The address has the game and the pinned match. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Leaderboard, LeaderboardLine, Live, Match, Table } from '../api/types';
import { useRest } from '../api/use';
import { contestTitle } from '../parts/contest-title';
import { setFilter } from '../parts/filters';
import { matchPath } from '../parts/links';
import { MatchLine } from '../parts/match-list';
import { Problem } from '../parts/problem';
import { Rating } from '../parts/rating';
import { query } from '../router';
import { LiveBoard } from '../viewer/live-board';
import { gameTitle } from './rules';
import { featuredAfter, slotsAfter, type Slot } from './slots';

const MOST_BOARDS = 12;
const EVERY = 3000;
const PIN = 'pin';
/** Results beside the featured match. */
const JUST = 3;
/** Milliseconds for which the choice of the featured match waits for the ratings of the live games. */
const PATIENCE = 1000;

type Shown = Pick<Table, 'id' | 'game' | 'players' | 'contest'>;
/** The leaderboards by game, as far as they are loaded. */
export type Ratings = ReadonlyMap<string, Leaderboard> | null;

interface WallProps {
  games: readonly string[];
  ratings: Ratings;
  /** The matches that have ended, the newest first; null: they are loading. */
  recent: readonly Match[] | null;
}

export function Wall({ games, ratings, recent }: WallProps) {
  const game = query.value.get('game') ?? '';
  const live = useRest<Live>(`/live${game && `?game=${encodeURIComponent(game)}`}`, EVERY);
  /** The last answer may still be that for another game. */
  const tables = useMemo(() => live.value?.tables.filter((table) => !game || table.game === game) ?? null, [live.value, game]);
  const featured = useFeatured(tables, ratings, game);
  const last = recent?.find((match) => !game || match.game === game) ?? null;
  const shown = featured ?? (tables?.length === 0 ? last : null);
  const slots = useSlots(tables, shown, game);
  return (
    <section aria-labelledby="now" class="wall">
      <h2 id="now" tabIndex={-1}>{tables?.length === 0 && shown ? 'Last match' : 'Now playing'}</h2>
      {live.error && <Problem words={live.error} retry={live.again} />}
      {shown ? <Featured key={shown.id} table={shown} runs={tables?.some(({ id }) => id === shown.id) ?? false} ratings={ratings} recent={recent ?? []} /> : <NoFeatured loading={!tables || !recent || tables.length > 0} game={game} />}
      <nav class="wall-games" aria-label="Live matches by game">
        {['', ...games].map((one) => <a key={one} class="button" href={one ? `/?game=${one}` : '/'} aria-current={one === game ? 'true' : undefined}>{one ? gameTitle(one) : 'All games'}</a>)}
        <a href={`/matches?status=running${game && `&game=${game}`}`}>All live matches{live.value && !game && ` (${live.value.total.toLocaleString()})`}</a>
      </nav>
      <ul class={`boards${tables ? '' : ' boards-wait'}`}>
        {slots.map(({ table }) => (
          <li key={table.id}>
            <LiveBoard match={table.id} game={table.game} players={table.players} words={wordsOf(table)} />
            <button type="button" class="pin" aria-label={`Feature ${table.players.join(' against ')}`} title="Feature this match" onClick={() => pin(table.id)}>⤢</button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The button that was pressed goes away, so the heading gets the focus. */
function pin(match: string): void {
  setFilter(PIN, match);
  document.getElementById('now')?.focus();
}

function wordsOf({ game, contest }: Shown): string {
  return gameTitle(game) + (contest === null ? '' : ` · ${contestTitle(game, contest)}`);
}

function Featured({ table, runs, ratings, recent }: { table: Shown; runs: boolean; ratings: Ratings; recent: readonly Match[] }) {
  const pinned = query.value.get(PIN) === table.id;
  const facts = (name: string) => {
    const line = lineOf(ratings, table.game, name);
    return line && <span class="live-rating"><Rating {...line} /></span>;
  };
  return (
    <div class="featured">
      <LiveBoard match={table.id} game={table.game} players={table.players} words={wordsOf(table)} facts={facts} />
      {recent.length > 0 && (
        <div class="featured-last">
          <h3>Just finished</h3>
          <ul class="lines">{recent.slice(0, JUST).map((match) => <li key={match.id}><MatchLine match={match} /></li>)}</ul>
        </div>
      )}
      <p class="actions featured-actions">
        <a class="button main" href={matchPath(table.id)}>{runs ? 'Watch this match' : 'Replay this match'}</a>
        {pinned && <button type="button" onClick={() => pin('')}>Unpin</button>}
      </p>
    </div>
  );
}

function NoFeatured({ loading, game }: { loading: boolean; game: string }) {
  return (
    <div class="featured">
      <div class="live-board">
        <div class="live-picture">{loading && <span class="quiet" role="status">Loading …</span>}</div>
        <div class="live-about">{!loading && <p><strong>No match{game && ` of ${gameTitle(game)}`} is running.</strong> Start one: you against a bot of the house.</p>}</div>
      </div>
      {!loading && <p class="actions featured-actions"><a class="button main" href={`/play${game && `?game=${game}`}`}>Play {game && gameTitle(game)}</a></p>}
    </div>
  );
}

/** The featured match; null: none is known. */
function useFeatured(tables: readonly Shown[] | null, ratings: Ratings, game: string): Shown | null {
  const [slot, setSlot] = useState<Slot<Shown> | null>(null);
  const wanted = query.value.get(PIN);
  const asked = useRest<Match>(wanted && `/matches/${encodeURIComponent(wanted)}`);
  const pinned = wanted && asked.value?.id === wanted ? asked.value : null;
  useEffect(() => setSlot(null), [game]);
  const [waited, setWaited] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setWaited(true), PATIENCE);
    return () => clearTimeout(timer);
  }, []);
  const ready = waited || tables?.every((table) => ratings?.has(table.game));
  useEffect(() => {
    if (tables && ready) setSlot((before) => featuredAfter(before, tables, (table) => strengthOf(table, ratings), pinned));
  }, [tables, ready, pinned]);
  return slot && slot.table;
}

function lineOf(ratings: Ratings, game: string, name: string): LeaderboardLine | undefined {
  return ratings?.get(game)?.bots.find((line) => line.name === name && line.rating !== null);
}

/** The mean of the lower bounds of its players' ratings. Those without a settled rating count nothing. */
function strengthOf({ players, game }: Shown, ratings: Ratings): number {
  const bounds = players.map((name) => {
    const line = lineOf(ratings, game, name);
    return line && !line.provisional ? (line.low ?? line.rating ?? 0) : 0;
  });
  return bounds.reduce((sum, bound) => sum + bound, 0) / Math.max(1, bounds.length);
}

function useSlots(tables: readonly Shown[] | null, featured: Shown | null, game: string): Slot<Shown>[] {
  const [slots, setSlots] = useState<Slot<Shown>[]>([]);
  useEffect(() => setSlots([]), [game]);
  useEffect(() => {
    if (tables) setSlots((before) => slotsAfter(before.filter(({ table }) => table.id !== featured?.id), tables.filter(({ id }) => id !== featured?.id), MOST_BOARDS));
  }, [tables, featured?.id]);
  return slots;
}
