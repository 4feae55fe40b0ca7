/** TV: a screen for the hall. It changes between live boards, standings and the next matches by itself. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { AllContests, Games, Leaderboard, Live, NextMatches, Standings, Table } from '../api/types';
import { useRest } from '../api/use';
import { QrCode } from '../parts/qr-code';
import { NotComparable, Rating } from '../parts/rating';
import { LiveBoard } from '../viewer/live-board';
import { points } from './contest-words';
import { gameTitle } from './rules';
import { slotsAfter, type Slot } from './slots';

const SCENE = 15_000;
const MOST_BOARDS = 4;
const RECENT = 24 * 3600 * 1000;

interface Scene {
  title: string;
  show: ComponentChildren;
}

export default function TvPage() {
  const live = useRest<Live>('/live', 3000);
  const next = useRest<NextMatches>('/next', 5000);
  const contests = useRest<AllContests>('/contests?limit=3', 20_000);
  const games = useRest<Games>('/games');
  const scenes = scenesOf(live.value, next.value, contests.value, games.value);
  const [at, paused, setPaused, go] = useScenes(scenes.length);
  useEffect(() => void (document.title = 'TV · Botdrome'), []);
  const scene = scenes[at % scenes.length];
  return (
    <div class="tv">
      <header class="tv-top">
        <a href="/" class="brand">Botdrome</a> <h1>{scene?.title}</h1>
        <p class="tv-state" role="status">{live.error ? 'The server does not answer. Trying again …' : ''}</p>
      </header>
      <div class="tv-scene" key={at}>{scene?.show}</div>
      <footer class="tv-bottom">
        <button type="button" onClick={() => go(-1)} aria-label="The scene before">‹</button>
        <button type="button" onClick={() => setPaused(!paused)}>{paused ? 'Go on' : 'Hold'}</button>
        <button type="button" onClick={() => go(1)} aria-label="The next scene">›</button>
        <span class="quiet">{at % scenes.length + 1} of {scenes.length}</span>
        <Clock />
        <QrCode text={`${location.origin}/`} label={`A QR code of ${location.origin}/`} />
      </footer>
    </div>
  );
}

function useScenes(count: number): [number, boolean, (paused: boolean) => void, (by: number) => void] {
  const [at, setAt] = useState(0);
  const [paused, setPaused] = useState(false);
  const go = (by: number) => setAt((now) => (now + by + count) % count);
  useEffect(() => {
    if (paused) return;
    const timer = setTimeout(() => go(1), SCENE);
    return () => clearTimeout(timer);
  }, [at, paused, count]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.target instanceof HTMLButtonElement && event.key === ' ') return;
      if (event.key === 'ArrowRight') go(1);
      else if (event.key === 'ArrowLeft') go(-1);
      else if (event.key === ' ') setPaused((before) => !before);
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [count]);
  return [at, paused, setPaused, go];
}

/** The scenes; never empty: without matches it shows how to join. */
function scenesOf(live: Live | null, next: NextMatches | null, contests: AllContests | null, games: Games | null): Scene[] {
  const scenes: Scene[] = [];
  const tables = live?.tables ?? [];
  if (tables.length > 0) scenes.push({ title: 'Now playing', show: <Boards tables={tables} /> });
  for (const { game, name, last } of contests?.contests ?? []) {
    if (Date.now() - new Date(last).getTime() < RECENT) scenes.push({ title: `${name} · ${gameTitle(game)}`, show: <ContestScene game={game} name={name} /> });
  }
  const waiting = (next?.waiting.length ?? 0) + (next?.unplayed.length ?? 0);
  if (next && waiting > 0) scenes.push({ title: 'Next matches', show: <NextScene next={next} /> });
  for (const { name } of games?.games ?? []) scenes.push({ title: `Leaderboard · ${gameTitle(name)}`, show: <LeaderScene game={name} /> });
  if (tables.length === 0) scenes.unshift({ title: 'Join', show: <JoinScene /> });
  return scenes;
}

function Boards({ tables }: { tables: readonly Table[] }) {
  const [slots, setSlots] = useState<Slot<Table>[]>([]);
  useEffect(() => setSlots((before) => slotsAfter(before, tables, MOST_BOARDS)), [tables]);
  return (
    <ul class={`tv-boards count-${slots.length}`}>
      {slots.map(({ table: { id, game, players, contest } }) => <li key={id}><LiveBoard match={id} game={game} players={players} large={slots.length <= 2} words={gameTitle(game) + (contest === null ? '' : ` · ${contest}`)} /></li>)}
    </ul>
  );
}

function ContestScene({ game, name }: { game: string; name: string }) {
  const { value } = useRest<Standings>(`/standings/${encodeURIComponent(game)}/${encodeURIComponent(name)}?limit=10`, 4000);
  const noted = value?.bots.some(({ note }) => note);
  return (
    <table>
      <caption class="hidden">Standings of {name}</caption>
      <thead><tr><th scope="col" class="number">Place</th><th scope="col">Bot</th><th scope="col" class="number">Points</th><th scope="col" class="number">Played</th>{noted && <th scope="col">Note</th>}</tr></thead>
      <tbody>{value?.bots.map(({ place, bot, score, played, note }) => <tr key={bot}><td class="number">{place}</td><th scope="row"><bdi>{bot}</bdi></th><td class="number">{points(score)}</td><td class="number">{played}</td>{noted && <td>{note}</td>}</tr>)}</tbody>
    </table>
  );
}

function LeaderScene({ game }: { game: string }) {
  const { value } = useRest<Leaderboard>(`/games/${game}/leaderboard?limit=10`, 10_000);
  const rated = value?.bots.filter(({ rating }) => rating !== null) ?? [];
  if (value && rated.length === 0) return <p class="tv-words">No rated bots yet. Be the first.</p>;
  return (
    <table>
      <caption class="hidden">Leaderboard of {gameTitle(game)}</caption>
      <thead><tr><th scope="col" class="number">Place</th><th scope="col">Bot</th><th scope="col" class="number">Rating</th><th scope="col" class="number">Games</th></tr></thead>
      <tbody>{rated.map((line) => <tr key={line.name} class={line.provisional ? 'provisional' : undefined}><td class="number">{line.place ?? '–'}</td><th scope="row"><bdi>{line.name}</bdi><NotComparable {...line} /></th><td class="number"><Rating {...line} /></td><td class="number">{line.games}</td></tr>)}</tbody>
    </table>
  );
}

function NextScene({ next: { waiting, unplayed } }: { next: NextMatches }) {
  return (
    <div class="columns">
      {waiting.length > 0 && <section><h2>Waiting for an opponent</h2><ul class="lines">{waiting.slice(0, 8).map(({ name, game, contest }, at) => <li key={at}><strong><bdi>{name}</bdi></strong> <span class="quiet">{gameTitle(game)}{contest !== null && ` · ${contest}`}</span></li>)}</ul></section>}
      {unplayed.length > 0 && <section><h2>Still to meet</h2><ul class="lines">{unplayed.slice(0, 8).map(({ contest, players, left }, at) => <li key={at}><strong><bdi>{players.join(' – ')}</bdi></strong> <span class="quiet">{contest} · {left} {left === 1 ? 'match' : 'matches'}</span></li>)}</ul></section>}
    </div>
  );
}

function JoinScene() {
  return <div class="tv-join"><QrCode text={`${location.origin}/play`} label={`A QR code of ${location.origin}/play`} /><p class="tv-words">No match is running.<br />Scan to play, or bring a bot to<br /><strong>{location.host}</strong></p></div>;
}

function Clock() {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), 10_000);
    return () => clearInterval(timer);
  }, []);
  return <time class="tv-clock" dateTime={now.toISOString()}>{now.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })}</time>;
}
