/** The front page: the live wall, the best bots, contests, recent matches, and how to bring a bot. */
import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, TRY_AGAIN } from '../api/rest';
import type { Games, Leaderboard, LeaderboardLine, Matches } from '../api/types';
import { later, useRest, type Reading } from '../api/use';
import { BringABot } from '../parts/bring-a-bot';
import { followed } from '../parts/follow';
import { BotLink, GameLink } from '../parts/links';
import { MatchLine } from '../parts/match-list';
import { Problem } from '../parts/problem';
import { Rating } from '../parts/rating';
import { ContestsSection, Wait } from './front-contests';
import { rulesOf, USUAL_GAMES } from './rules';
import { Wall, type Ratings } from './wall';

/** Bots of each leaderboard that are loaded: the featured match is chosen by their ratings. */
const MOST_RATED = 20;
const BEST = 3;
/** Milliseconds between two looks at the ratings. */
const RATED = 60_000;

export default function Front() {
  useEffect(() => void (document.title = 'Botdrome'), []);
  const games = useRest<Games>('/games').value?.games.map(({ name }) => name) ?? USUAL_GAMES;
  const ratings = useRatings(games);
  const recent = useRest<Matches>('/matches?status=ended&limit=10', 10_000);
  useFocusAfterUnfollowing();
  return (
    <>
      <header class="hero">
        <h1>Bots play here.</h1>
        <p>Six games, five protocols, any language. Watch them, play against them, or bring your own.</p>
        <p class="actions">
          <a class="button main" href="/play">Play against a bot</a> <a class="button" href="#bring">Bring a bot</a>
        </p>
      </header>
      <Wall games={games} ratings={ratings} recent={recent.value?.matches ?? null} />
      {followed.value.length > 0 && <FollowedSection />}
      <section aria-labelledby="best">
        <h2 id="best" tabIndex={-1}>Games and their best bots</h2>
        <ul class="cards">{games.map((name) => <li key={name} class="card"><GameCard game={name} board={ratings?.get(name)} /></li>)}</ul>
      </section>
      <div class="columns">
        <RecentMatches reading={recent} />
        <ContestsSection />
      </div>
      <BringABot />
    </>
  );
}

/** The button that unfollows disappears with its line, so the heading gets the focus. */
function useFocusAfterUnfollowing(): void {
  const follows = followed.value.length;
  const before = useRef(follows);
  useEffect(() => {
    if (follows < before.current) document.getElementById(follows ? 'followed' : 'best')?.focus();
    before.current = follows;
  }, [follows]);
}

/** A chunk of its own, for those that follow anything. Its place is reserved. */
function FollowedSection() {
  const [list, setList] = useState<{ List: ComponentType } | null>(null);
  useEffect(() => void import('./front-followed').then((loaded) => setList({ List: loaded.default }), () => setList({ List: NotLoaded })), []);
  const bots = followed.value.filter(({ kind }) => kind === 'bot').length;
  const rows = followed.value.length + (bots ? 3 : 0);
  return (
    <section aria-labelledby="followed" style={{ minHeight: `${4 + 2.7 * rows}rem` }}>
      <h2 id="followed" tabIndex={-1}>You follow</h2>
      {list && <list.List />}
    </section>
  );
}

function NotLoaded() {
  return <Problem words="The list could not be loaded." retry={() => location.reload()} />;
}

/** The leaderboards of all games. One that cannot be loaded is left out, and is asked for again soon. */
function useRatings(games: readonly string[]): Ratings {
  const [ratings, setRatings] = useState<Ratings>(null);
  useEffect(() => {
    const control = new AbortController();
    const one = async (game: string) => {
      const found = await ask<Leaderboard>(`/games/${game}/leaderboard?limit=${MOST_RATED}`, { signal: control.signal }).catch(() => null);
      if (found && !control.signal.aborted) setRatings((before) => new Map([...(before ?? []), [game, found]]));
      return found;
    };
    const load = async (wanted: readonly string[]) => {
      const found = await Promise.all(wanted.map(one));
      const missing = wanted.filter((_, at) => found[at] === null);
      later(missing.length ? TRY_AGAIN : RATED, () => void load(missing.length ? missing : games), control.signal);
    };
    void load(games);
    return () => control.abort();
  }, [games.join()]);
  return ratings;
}

function GameCard({ game, board }: { game: string; board: Leaderboard | undefined }) {
  const best = board?.bots.filter(({ rating }) => rating !== null).slice(0, BEST) ?? [];
  return (
    <>
      <h3><GameLink game={game} /></h3>
      <p class="quiet gist">{rulesOf(game).gist}</p>
      {board && best.length === 0 && <p class="quiet">No rated bots yet.</p>}
      {!board && <p class="hidden" role="status">Loading …</p>}
      <ol class="top-bots">
        {best.map((line, at) => [
          isOther(line, best[at - 1]) && <li key={`before ${line.name}`} class="other-group">Never met {at ? 'those above' : 'the others'}, so not comparable:</li>,
          <li key={line.name} class={line.provisional ? 'provisional' : undefined} value={line.place ?? undefined}>
            <span class="top-place">{line.place ?? '–'}</span><span class="top-name"><BotLink name={line.name} game={game} /></span><Rating {...line} />
          </li>,
        ])}
      </ol>
    </>
  );
}

/** Whether a settled rating is of another group than the one before, or than the first. */
function isOther(line: LeaderboardLine, before: LeaderboardLine | undefined): boolean {
  return !line.provisional && (line.group ?? 0) !== (before?.group ?? 0);
}

function RecentMatches({ reading: { value, error, again } }: { reading: Reading<Matches> }) {
  return (
    <section aria-labelledby="recent">
      <h2 id="recent">Recent matches</h2>
      {error && !value && <Problem words={error} retry={again} />}
      {!value && !error && <Wait />}
      {value?.matches.length === 0 && <p class="quiet">No match has ended yet.</p>}
      <ul class="lines">{value?.matches.map((match) => <li key={match.id}><MatchLine match={match} /></li>)}</ul>
      {value && value.total > 0 && <p><a href="/matches">{value.total === 1 ? 'All matches' : `All ${value.total.toLocaleString()} matches`}</a></p>}
    </section>
  );
}

