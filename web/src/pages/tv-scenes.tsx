/** The scenes of TV. Each is loaded before it is shown, and kept fresh while it is. */
import { effect } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { ask } from '../api/rest';
import type { ContestBracket, ContestStanding, DocumentedContest, Leaderboard, ListedContest, NextMatches, ServerAddress, Standings, Table } from '../api/types';
import { useRest } from '../api/use';
import { phoneUrl } from '../parts/bring-a-bot';
import { contestTitle } from '../parts/contest-title';
import { contestPath } from '../parts/links';
import { DateAndTime } from '../parts/moment';
import { QrCode } from '../parts/qr-code';
import { NotComparable, Rating } from '../parts/rating';
import type { Renderer } from '../renderers/renderer';
import { rendererOf } from '../renderers/table';
import { MatchSource, type Loading } from '../viewer/match-source';
import { Players } from '../viewer/players';
import { Headline } from '../viewer/result';
import { useShowing } from '../viewer/showing';
import { Stage } from '../viewer/stage';
import { read } from '../viewer/use';
import { bracketSides, lastColumns, type BracketSide } from './bracket-layout';
import { Bracket } from './contest-bracket';
import { documentOf, FORMAT_TITLES, listed, points } from './contest-words';
import type { Scene } from './rotation';
import { gameTitle } from './rules';

export interface Loaded {
  show: () => ComponentChildren;
  /** Release what it holds. */
  stop?: () => void;
}

/** What fits the screen in letters that can be read from ten metres. */
const MOST_ROWS = 8;
const MOST_GROUPS = 8;
const MOST_BOXES = { winners: 8, losers: 2, final: 1 };
/** Beside a losers' bracket. */
const MOST_WINNERS = 4;
/** Milliseconds between two looks at a scene. */
const EVERY = 4000;

/** A scene with one answer of the server. `show`: null if the answer has nothing to show. */
function restScene<T>(key: string, path: string, show: (value: T) => ComponentChildren): Scene<Loaded> {
  return {
    key,
    load: async (signal) => {
      const first = await ask<T>(path, { signal });
      return show(first) === null ? null : { show: () => <Fresh path={path} first={first} show={show} /> };
    },
  };
}

function Fresh<T>({ path, first, show }: { path: string; first: T; show: (value: T) => ComponentChildren }) {
  const { value } = useRest<T>(path, EVERY, first);
  return <>{show(value ?? first) ?? show(first)}</>;
}

function Titled({ title, about, children }: { title: string; about?: ComponentChildren; children: ComponentChildren }) {
  return (
    <>
      <header class="tv-top"><h1><bdi>{title}</bdi></h1>{about && <p class="quiet">{about}</p>}</header>
      {children}
    </>
  );
}

// A live match.

export function matchScene(table: Table): Scene<Loaded> {
  return {
    key: `live/${table.id}`,
    load: async (signal) => {
      const renderer = await rendererOf(table.game);
      if (signal.aborted) return null;
      const source = new MatchSource(table.id);
      if ((await stateOf(source, signal)) === 'shown') return { show: () => <MatchScene source={source} renderer={renderer} />, stop: () => source.stop() };
      source.stop();
      return null;
    },
  };
}

/** The state of a match once it is shown or has failed; 'loading': it is wanted no more. */
function stateOf(source: MatchSource, signal: AbortSignal): Promise<Loading['state']> {
  return new Promise((resolve) => {
    const stop = effect(() => void (source.loading.value.state !== 'loading' && resolve(source.loading.value.state)));
    signal.addEventListener('abort', () => (stop(), resolve('loading')), { once: true });
  });
}

function MatchScene({ source, renderer }: { source: MatchSource; renderer: Renderer }) {
  const loading = source.loading.value;
  return loading.state === 'shown' ? <WatchedMatch {...loading} renderer={renderer} source={source} /> : null;
}

function WatchedMatch({ film, live, renderer, source }: Extract<Loading, { state: 'shown' }> & { renderer: Renderer; source: MatchSource }) {
  const showing = useShowing({ film, renderer, grown: read(live?.grown, 0) });
  const { game, contest } = film.header;
  const index = Math.min(showing.playback.index.value, film.length - 1);
  return (
    <div class="tv-match">
      {/* The board is drawn for the eye; the players beside it are words. */}
      <div class="tv-board" aria-hidden="true" inert><Stage {...showing} /></div>
      <div class="tv-side">
        <header><h1>{gameTitle(game)}</h1>{contest !== null && <p class="quiet"><bdi>{contestTitle(game, contest)}</bdi></p>}</header>
        <Players {...showing} facts={source.players.value} liveTime={film.over ? null : (live?.time ?? null)} />
        {film.over ? <Headline film={film} /> : <p class="tv-event">{showing.inWords(index)}</p>}
      </div>
    </div>
  );
}

// Contests.

/** The scenes of a contest with a document. */
export function contestScenes({ game, name, state, format }: ListedContest): Scene<Loaded>[] {
  const path = `/contest-documents/${encodeURIComponent(name)}?fixtures=none`;
  if (state === 'open') return [restScene<DocumentedContest>(`open/${name}`, path, (contest) => <OpenContest contest={contest} />)];
  return [
    restScene<DocumentedContest>(`contest/${game}/${name}`, path, (contest) => (contest.played ? <ContestScene contest={contest} /> : null)),
    ...(format === 'groups' ? [restScene<DocumentedContest>(`groups/${name}`, path, (contest) => (contest.groups.length ? <GroupsScene contest={contest} /> : null))] : []),
    ...(['knockout', 'double-elimination', 'groups'].includes(format) ? [restScene<ContestBracket>(`bracket/${name}`, `/contest-brackets/${encodeURIComponent(name)}`, (bracket) => bracketScene(contestTitle(game, name), bracket))] : []),
  ];
}

function titleOf(contest: DocumentedContest): string {
  return documentOf(contest).title || contest.name;
}

function OpenContest({ contest }: { contest: DocumentedContest }) {
  const { format, start } = documentOf(contest);
  return (
    <Titled title={titleOf(contest)} about={`${gameTitle(contest.game)} · ${FORMAT_TITLES[format] ?? format}`}>
      <div class="tv-join">
        <PhoneCode path={contestPath(contest.game, contest.name)} />
        <p class="tv-words">Open for entry<br />{contest.entrants.length} {contest.entrants.length === 1 ? 'bot' : 'bots'} so far{start && <><br />starts <DateAndTime at={start} /></>}</p>
      </div>
    </Titled>
  );
}

function ContestScene({ contest }: { contest: DocumentedContest }) {
  const { champions, played, expected, state, standings } = contest;
  const noted = standings.some(({ note }) => note);
  return (
    <Titled title={titleOf(contest)} about={champions.length ? <span class="tv-champion"><span class="quiet">{champions.length > 1 ? 'Champions' : 'Champion'}</span> <bdi>{listed(champions)}</bdi></span> : `${played} of ${state === 'over' ? '' : 'about '}${Math.max(expected, played)} matches`}>
      <TvTable caption="Standings" heads={['Place', 'Bot', 'Score', 'W–D–L', ...(noted ? [''] : [])]} rows={standings.slice(0, MOST_ROWS).map((line) => [...standing(line), ...(noted ? [<span class="quiet">{line.note}</span>] : [])])} />
    </Titled>
  );
}

function standing({ place, bot, score, wins, draws, losses }: ContestStanding): ComponentChildren[] {
  return [place, <bdi>{bot}</bdi>, points(score), `${wins}–${draws}–${losses}`];
}

function GroupsScene({ contest }: { contest: DocumentedContest }) {
  const { advance = 2 } = documentOf(contest);
  return (
    <Titled title={titleOf(contest)} about={`the best ${advance} of each group go on`}>
      <div class="tv-groups" style={{ '--across': Math.max(2, Math.ceil(Math.min(contest.groups.length, MOST_GROUPS) / 2)) }}>
        {contest.groups.slice(0, MOST_GROUPS).map((lines, at) => <section key={at}><h2>Group {at + 1}</h2><TvTable caption={`Group ${at + 1}`} heads={['Place', 'Bot', 'Score']} rows={lines.slice(0, 4).map((line) => standing(line).slice(0, 3))} /></section>)}
      </div>
    </Titled>
  );
}

function bracketScene(title: string, bracket: ContestBracket): ComponentChildren {
  const sides = bracketSides(bracket);
  const shown = sides.map((side): BracketSide | null => {
    const columns = lastColumns(side.columns, side.side === 'winners' && sides.length > 1 ? MOST_WINNERS : MOST_BOXES[side.side]);
    return columns && { ...side, columns };
  });
  if (!shown[0] && !shown[1]) return null;
  const drawn = shown.map((side, at) => side ?? { ...sides[at]!, columns: sides[at]!.columns.slice(-1) });
  const [winners = 0, losers = 0, final = 0] = drawn.map(({ columns }) => columns.length);
  return <Titled title={title}><div class="tv-bracket" style={{ '--columns': Math.max(winners, losers) + final }}><Bracket sides={drawn} /></div></Titled>;
}

/** A contest without a document. */
export function standingsScene({ game, name }: { game: string; name: string }): Scene<Loaded> {
  const path = `/standings/${encodeURIComponent(game)}/${encodeURIComponent(name)}?limit=${MOST_ROWS}`;
  return restScene<Standings>(`contest/${game}/${name}`, path, ({ bots }) =>
    bots.length ? (
      <Titled title={name} about={gameTitle(game)}>
        <TvTable caption="Standings" heads={['Place', 'Bot', 'Points', 'Played']} rows={bots.map(({ place, bot, score, played }) => [place, <bdi>{bot}</bdi>, points(score), played])} />
      </Titled>
    ) : null,
  );
}

// Leaderboards, the next matches, and how to join.

export function leaderboardScene(game: string): Scene<Loaded> {
  return restScene<Leaderboard>(`leaderboard/${game}`, `/games/${encodeURIComponent(game)}/leaderboard?limit=${MOST_ROWS}`, (board) => {
    const rated = board.bots.filter(({ rating }) => rating !== null);
    if (!rated.length) return null;
    const rows = rated.map((line) => [line.place ?? '–', <><bdi>{line.name}</bdi><NotComparable {...line} /></>, <Rating {...line} />, line.games]);
    return <Titled title={`Leaderboard · ${gameTitle(game)}`}><TvTable caption={`Leaderboard of ${gameTitle(game)}`} heads={['Place', 'Bot', 'Rating', 'Games']} rows={rows} classes={rated.map(({ provisional }) => (provisional ? 'provisional' : ''))} /></Titled>;
  });
}

export const nextMatchesScene = restScene<NextMatches>('next', '/next', ({ waiting, unplayed }) =>
  waiting.length + unplayed.length ? (
    <Titled title="Next matches">
      <div class="tv-next">
        {waiting.length > 0 && <section><h2>Waiting for an opponent</h2><ul>{waiting.slice(0, MOST_ROWS).map(({ name, game, contest }, at) => <li key={at}><strong><bdi>{name}</bdi></strong> <span class="quiet">{contest === null ? gameTitle(game) : contestTitle(game, contest)}</span></li>)}</ul></section>}
        {unplayed.length > 0 && <section><h2>Still to meet</h2><ul>{unplayed.slice(0, MOST_ROWS).map(({ game, contest, players, left }, at) => <li key={at}><strong><bdi>{players.join(' – ')}</bdi></strong> <span class="quiet">{contestTitle(game, contest)} · {left} {left === 1 ? 'match' : 'matches'}</span></li>)}</ul></section>}
      </div>
    </Titled>
  ) : null,
);

export function JoinScene() {
  const phone = usePhoneUrl();
  return (
    <Titled title="Join">
      <div class="tv-join">
        <PhoneCode path="/play" />
        <p class="tv-words">{phone ? <>Scan to play, or bring a bot to<br /><strong>{phone.replace(/^https?:\/\//, '')}</strong></> : 'Play at this machine, or bring a bot.'}</p>
      </div>
    </Titled>
  );
}

/** The address that phones in the hall can open; null: there is none, or it is not known yet. */
function usePhoneUrl(): string | null {
  const { value } = useRest<ServerAddress>('/server');
  return value && phoneUrl(value, location);
}

export function PhoneCode({ path }: { path: string }) {
  const phone = usePhoneUrl();
  return phone ? <QrCode text={phone + path} label={`A QR code of ${phone}${path}`} /> : null;
}

/** The second column names the row; all others are figures, but for one without a heading. */
function TvTable({ caption, heads, rows, classes = [] }: { caption: string; heads: string[]; rows: ComponentChildren[][]; classes?: string[] }) {
  const kind = (at: number) => (at === 1 || !heads[at] ? undefined : 'number');
  return (
    <table>
      <caption class="hidden">{caption}</caption>
      <thead><tr>{heads.map((head, at) => (head ? <th key={at} scope="col" class={kind(at)}>{head}</th> : <td key={at} />))}</tr></thead>
      <tbody>{rows.map((cells, row) => <tr key={row} class={classes[row] || undefined}>{cells.map((cell, at) => (at === 1 ? <th key={at} scope="row">{cell}</th> : <td key={at} class={kind(at)}>{cell}</td>))}</tr>)}</tbody>
    </table>
  );
}
