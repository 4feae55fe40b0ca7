/** The front page: running matches, the best bots, contests, recent matches, and how to bring a bot. */
import { useEffect, useState } from 'preact/hooks';
import type { Games, Leaderboard, Live, Match, Matches, Table } from '../api/types';
import { useRest } from '../api/use';
import { BringABot } from '../parts/bring-a-bot';
import { BotLink, GameLink, MatchLink } from '../parts/links';
import { Players, resultOf } from '../parts/match-list';
import { Moment } from '../parts/moment';
import { Problem } from '../parts/problem';
import { NotComparable, Rating } from '../parts/rating';
import { LiveBoard } from '../viewer/live-board';
import { ContestsSection, Wait } from './front-contests';
import { gameTitle, rulesOf } from './rules';
import { slotsAfter, type Slot } from './slots';

const MOST_BOARDS = 20;
const EVERY = 3000;

export default function Front() {
  useEffect(() => void (document.title = 'Botdrome'), []);
  return (
    <>
      <header class="hero">
        <h1>Bots play here.</h1>
        <p>Six games, five protocols, any language. Watch them, play against them, or bring your own.</p>
        <p class="actions">
          <a class="button main" href="/play">Play against a bot</a> <a class="button" href="#bring">Bring a bot</a>
        </p>
      </header>
      <NowPlaying />
      <BestBots />
      <div class="columns">
        <RecentMatches />
        <ContestsSection />
      </div>
      <BringABot />
    </>
  );
}

function NowPlaying() {
  const live = useRest<Live>('/live', EVERY);
  const { value, error } = live;
  const slots = useSlots(value);
  return (
    <section aria-labelledby="now">
      <h2 id="now">Now playing{value && value.total > 0 && <span class="quiet"> · {value.total.toLocaleString()} {value.total === 1 ? 'match' : 'matches'}</span>}</h2>
      {error && <Problem words={error} retry={live.again} />}
      {!value && !error && <p class="quiet boards-wait" role="status">Loading …</p>}
      {value?.tables.length === 0 && slots.length === 0 && <NothingRuns />}
      <ul class="boards">
        {slots.map(({ table: { id, game, players, contest } }) => (
          <li key={id}><LiveBoard match={id} game={game} players={players} words={gameTitle(game) + (contest === null ? '' : ` · ${contest}`)} /></li>
        ))}
      </ul>
    </section>
  );
}

function useSlots(live: Live | null): Slot<Table>[] {
  const [slots, setSlots] = useState<Slot<Table>[]>([]);
  useEffect(() => {
    if (live) setSlots((before) => slotsAfter(before, live.tables, MOST_BOARDS));
  }, [live]);
  return slots;
}

function NothingRuns() {
  return (
    <div class="card empty">
      <p><strong>No match is running.</strong> Start one: you against a bot of the house, in any of these games.</p>
      <GameButtons />
    </div>
  );
}

function GameButtons() {
  const { value } = useRest<Games>('/games');
  return <p class="actions">{value?.games.map(({ name }) => <a key={name} class="button" href={`/play?game=${name}`}>{gameTitle(name)}</a>)}</p>;
}

function BestBots() {
  const { value } = useRest<Games>('/games');
  return (
    <section aria-labelledby="best">
      <h2 id="best">Games and their best bots</h2>
      <ul class="cards">{value?.games.map(({ name }) => <li key={name} class="card"><GameCard game={name} /></li>)}</ul>
    </section>
  );
}

function GameCard({ game }: { game: string }) {
  const { value, error } = useRest<Leaderboard>(`/games/${game}/leaderboard?limit=3`, 60_000);
  const rated = value?.bots.filter(({ rating }) => rating !== null) ?? [];
  return (
    <>
      <h3><GameLink game={game} /></h3>
      <p class="quiet gist">{rulesOf(game).gist}</p>
      {error && <p class="quiet">{error}</p>}
      {value && rated.length === 0 && <p class="quiet">No rated bots yet.</p>}
      {!value && !error && <p class="hidden" role="status">Loading …</p>}
      <ol class={value ? 'top-bots' : 'top-bots wait'}>
        {rated.map((line) => <li key={line.name} class={line.place === null ? 'unplaced' : ''}><span><BotLink name={line.name} game={game} /><NotComparable {...line} /></span><Rating {...line} /></li>)}
      </ol>
    </>
  );
}

function RecentMatches() {
  const { value, error, again } = useRest<Matches>('/matches?status=ended&limit=10', 10_000);
  return (
    <section aria-labelledby="recent">
      <h2 id="recent">Recent matches</h2>
      {error && !value && <Problem words={error} retry={again} />}
      {!value && !error && <Wait />}
      {value?.matches.length === 0 && <p class="quiet">No match has ended yet.</p>}
      <ul class="lines">{value?.matches.map((match) => <li key={match.id}><RecentMatch match={match} /></li>)}</ul>
      {value && value.total > 0 && <p><a href="/matches">All {value.total.toLocaleString()} matches</a></p>}
    </section>
  );
}

function RecentMatch({ match }: { match: Match }) {
  const result = resultOf(match);
  return (
    <>
      <Players match={match} />
      <span class="quiet"> {gameTitle(match.game)} · {result === 'draw' ? 'draw' : <><bdi>{result}</bdi> won</>} · <Moment at={match.ended ?? match.started} /> · </span>
      <MatchLink id={match.id}>Replay</MatchLink>
    </>
  );
}
