/** TV: a screen for the hall. It changes between live matches, contests, brackets and leaderboards by itself. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { TRY_AGAIN } from '../api/rest';
import type { AllContests, Games, ListedContests, Live, Match, Matches, Table } from '../api/types';
import { later, useRest } from '../api/use';
import { contestTitle } from '../parts/contest-title';
import { query } from '../router';
import { isWanted, mixed, nextScene, type Ready, type Scene } from './rotation';
import { gameTitle } from './rules';
import { slotsAfter, type Slot } from './slots';
import { contestScenes, JoinScene, leaderboardScene, matchScene, nextMatchesScene, PhoneCode, standingsScene, type Loaded } from './tv-scenes';

/** Seconds for a scene, if the address has no others. */
const SCENE = 15;
const SHORTEST = 3;
/** Milliseconds before a change at which the next scene begins to load. */
const LEAD = 3000;
const MOST_MATCHES = 3;
const RECENT = 24 * 3600 * 1000;
const CONTESTS = 4;
/** Contests of each state among which one that the address names is looked for. */
const MOST_CONTESTS = 50;
const RESULTS = 12;

export default function TvPage() {
  const live = useRest<Live>('/live', 3000);
  const scenes = usePlan(live.value, live.error !== null);
  const { shown, tried, paused, setPaused, go } = useRotation(scenes);
  useEffect(() => void (document.title = 'TV · Botdrome'), []);
  return (
    <div class="tv">
      <div class="tv-scene" key={shown?.key}>{shown ? shown.loaded.show() : tried ? <JoinScene /> : <p class="quiet" role="status">Loading …</p>}</div>
      <p class="tv-state" role="status">{live.error ? 'The server does not answer. Trying again …' : ''}</p>
      <footer class="tv-bottom">
        <div class="tv-controls">
          <button type="button" onClick={() => go(-1)} aria-label="The scene before">‹</button>
          <button type="button" onClick={() => setPaused(!paused)}>{paused ? 'Go on' : 'Hold'}</button>
          <button type="button" onClick={() => go(1)} aria-label="The next scene">›</button>
        </div>
        <Ticker paused={paused} />
        <Clock />
        <PhoneCode path="/" />
      </footer>
    </div>
  );
}

/** The scenes in their order; null: they are not known yet. */
function usePlan(live: Live | null, failed: boolean): Scene<Loaded>[] | null {
  const names = query.value.getAll('scene');
  const named = names.some((name) => /^(contest|groups|bracket|open)\//.test(name));
  const limit = named ? MOST_CONTESTS : CONTESTS;
  const contests = useRest<AllContests>(`/contests?limit=${CONTESTS}`, 20_000);
  const current = useRest<ListedContests>(`/contest-documents?state=current&limit=${limit}`, 10_000);
  const over = useRest<ListedContests>(`/contest-documents?state=over&limit=${limit}`, 20_000);
  const games = useRest<Games>('/games');
  const slots = useSlots(live, names);
  if (![contests, current, over, games].every(({ value, error }) => value || error) || !(live || failed)) return null;
  const recent = contests.value?.contests.filter(({ last }) => Date.now() - new Date(last).getTime() < RECENT) ?? [];
  const documented = [...(current.value?.contests ?? []), ...(over.value?.contests ?? [])];
  const isRecent = (game: string, name: string) => recent.some((one) => one.game === game && one.name === name);
  const others = [
    ...documented.filter(({ state, game, name }) => state !== 'over' || named || isRecent(game, name)).flatMap(contestScenes),
    ...recent.filter(({ game, name }) => !documented.some((one) => one.game === game && one.name === name)).map(standingsScene),
    nextMatchesScene,
    ...(games.value?.games ?? []).map(({ name }) => leaderboardScene(name)),
  ];
  const join = { key: 'join', load: () => Promise.resolve({ show: () => <JoinScene /> }) };
  const matches = slots.filter(({ over }) => over === 0).map(({ table }) => matchScene(table));
  return mixed(matches, live?.total ? others : [join, ...others]).filter(({ key }) => isWanted(key, names));
}

function useSlots(live: Live | null, names: readonly string[]): Slot<Table>[] {
  const [slots, setSlots] = useState<Slot<Table>[]>([]);
  useEffect(() => {
    const tables = live?.tables.filter(({ id }) => isWanted(`live/${id}`, names)) ?? [];
    setSlots((before) => slotsAfter(before, tables, MOST_MATCHES));
  }, [live]);
  return slots;
}

/** A change of scenes: after this many milliseconds, or at once if a person asks for it. */
interface Turn {
  by: 1 | -1;
  wait: number;
}

function useRotation(scenes: Scene<Loaded>[] | null) {
  const [shown, setShown] = useState<Ready<Loaded> | null>(null);
  const [turn, setTurn] = useState<Turn>({ by: 1, wait: 0 });
  const [paused, setPaused] = useState(false);
  const latest = useRef(scenes);
  latest.current = scenes;
  const known = scenes !== null;
  useEffect(() => {
    if (!known || (paused && turn.wait)) return;
    const control = new AbortController();
    void change(control.signal);
    return () => control.abort();
  }, [known, turn, paused]);
  const change = async (signal: AbortSignal) => {
    const due = performance.now() + turn.wait;
    await passed(turn.wait - LEAD, signal);
    const next = await nextScene(latest.current ?? [], shown, turn.by, signal);
    await passed(due - performance.now(), signal);
    if (signal.aborted) return next?.loaded.stop?.();
    if (next) setShown(next);
    setTurn({ by: 1, wait: next || shown ? sceneTime() : TRY_AGAIN });
  };
  useEffect(() => () => shown?.loaded.stop?.(), [shown]);
  const go = (by: Turn['by']) => setTurn({ by, wait: 0 });
  useKeys(go, () => setPaused((before) => !before));
  return { shown, tried: turn.wait > 0, paused, setPaused, go };
}

/** The time of a scene in milliseconds, as in `/tv?seconds=30`. */
function sceneTime(): number {
  return 1000 * Math.max(SHORTEST, Number(query.value.get('seconds')) || SCENE);
}

/** The time has passed, or is of no interest any more. */
function passed(milliseconds: number, signal: AbortSignal): Promise<void> | void {
  if (milliseconds <= 0) return;
  return new Promise((resolve) => {
    later(milliseconds, resolve, signal);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function useKeys(go: (by: Turn['by']) => void, hold: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.target instanceof HTMLButtonElement && event.key === ' ') return;
      if (event.key === 'ArrowRight') go(1);
      else if (event.key === 'ArrowLeft') go(-1);
      else if (event.key === ' ') hold();
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}

/** The latest results. While the line moves, new ones wait until it begins again. */
function Ticker({ paused }: { paused: boolean }) {
  const { value } = useRest<Matches>(`/matches?status=ended&limit=${RESULTS}`, 5000);
  const [shown, setShown] = useState<readonly Match[]>([]);
  const latest = value?.matches ?? [];
  const moves = !matchMedia('(prefers-reduced-motion: reduce)').matches;
  useEffect(() => void ((!moves || !shown.length) && setShown(latest)), [value]);
  const results = () => <ul>{shown.map((match) => <li key={match.id}><Result match={match} /></li>)}</ul>;
  return (
    <section class={paused ? 'ticker held' : 'ticker'} aria-label="Latest results">
      {shown.length > 0 && <div class="ticker-line" style={{ '--time': `${6 * shown.length}s` }} onAnimationIteration={() => setShown(latest)}>{results()}{moves && <div aria-hidden="true">{results()}</div>}</div>}
    </section>
  );
}

function Result({ match: { players, seats, result, game, contest } }: { match: Match }) {
  const winner = result?.victor;
  const others = players.filter((name) => name !== winner);
  const where = contest === null ? gameTitle(game) : contestTitle(game, contest);
  const first = seats.filter(({ place }) => place === 1).map(({ bot }) => bot);
  if (!winner) return <><bdi>{(first.length ? first : players).join(' – ')}</bdi>: draw <span class="quiet">{where}</span></>;
  return <><strong><bdi>{winner}</bdi></strong> {others.length === 1 ? <>beat <bdi>{others[0]}</bdi></> : `won against ${others.length}`} <span class="quiet">{where}</span></>;
}

function Clock() {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), 10_000);
    return () => clearInterval(timer);
  }, []);
  return <time class="tv-clock" dateTime={now.toISOString()}>{now.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })}</time>;
}
