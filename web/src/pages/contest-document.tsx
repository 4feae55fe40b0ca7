/** A contest with a document: its state, progress, standings, rounds and log, and how to enter. */
import { useEffect, useState } from 'preact/hooks';
import type { ContestBracket, ContestEntrant, ContestLogLine, ContestStanding, DocumentedContest } from '../api/types';
import { useRest } from '../api/use';
import { Questions } from '../parts/ask-first';
import { RowsTable, type Column } from '../parts/data-table';
import { hush, Notices } from '../parts/doing';
import { FollowButton } from '../parts/follow';
import { BotLink, GameLink } from '../parts/links';
import { DateAndTime, Moment } from '../parts/moment';
import { NotComparable, Rating } from '../parts/rating';
import { StateBadge } from '../parts/state-badge';
import { BracketSection, hasBracket } from './contest-bracket';
import { EntrySection } from './contest-entry';
import { RoundsSection } from './contest-rounds';
import { CrosstableSection, NowPlaying, ResultFiles } from './contest-tables';
import { documentOf, FORMAT_TITLES, lookEvery, points, takesEntries, TIE_BREAK_TITLES } from './contest-words';

export function useContest(name: string, first: DocumentedContest | null = null): { contest: DocumentedContest | null; error: string | null; again: () => void } {
  const [last, setLast] = useState(first);
  const { value, error, again } = useRest<DocumentedContest>(`/contest-documents/${encodeURIComponent(name)}?fixtures=none`, lookEvery(last));
  useEffect(() => void (value && setLast(value)), [value]);
  return { contest: value ?? last, error, again };
}

export function DocumentedContestPage({ first, bracket }: { first: DocumentedContest; bracket: ContestBracket | null }) {
  const { contest: read, error, again } = useContest(first.name, first);
  const contest = read ?? first;
  const { title } = documentOf(contest);
  useEffect(hush, []);
  useEffect(() => void (document.title = `${title || contest.name} · Botdrome`), [title]);
  const entry = <EntrySection contest={contest} changed={again} />;
  const at = `${encodeURIComponent(contest.game)}/${encodeURIComponent(contest.name)}`;
  return (
    <div class="contest">
      <header>
        <h1><bdi>{title || contest.name}</bdi> <StateBadge state={contest.state} /></h1>
        <Facts contest={contest} />
        <Schedule contest={contest} />
        <Champions contest={contest} />
        <ContestProgress contest={contest} />
      </header>
      <Notices />
      {error && <p role="alert" class="notice failed">{error} The page tries again.</p>}
      {takesEntries(contest) && entry}
      {(contest.state === 'running' || contest.state === 'paused') && <NowPlaying game={contest.game} contest={contest.name} />}
      {hasBracket(contest) && <BracketSection contest={contest} first={bracket} />}
      <GroupsSection contest={contest} />
      <StandingsSection contest={contest} />
      <RoundsSection contest={contest} />
      {contest.played > 0 && <CrosstableSection at={at} played={contest.played} />}
      <EntrantsSection contest={contest} />
      {!takesEntries(contest) && contest.state !== 'over' && entry}
      <LogSection log={contest.log} />
      {contest.played > 0 && <ResultFiles at={at} name={contest.name} />}
      <Questions />
    </div>
  );
}

function Facts({ contest }: { contest: DocumentedContest }) {
  const { format, owner, players } = documentOf(contest);
  return (
    <p class="quiet facts">
      <span><GameLink game={contest.game} /></span>
      <span>{FORMAT_TITLES[format] ?? format}{players && players > 2 && `, tables of ${players}`}</span>
      <span>{contest.entrants.length.toLocaleString()} {contest.entrants.length === 1 ? 'bot' : 'bots'}</span>
      {owner && <span>organised by <bdi>{owner}</bdi></span>}
      <FollowButton kind="contest" game={contest.game} name={contest.name} />
    </p>
  );
}

/** When it starts and ends, as planned or as it was, in the visitor's time zone. */
function Schedule({ contest }: { contest: DocumentedContest }) {
  const { start, end } = documentOf(contest);
  const started = contest.log.findLast(({ action }) => action === 'running')?.when;
  const ended = contest.state === 'over' && contest.log.find(({ action }) => action === 'over')?.when;
  const times = [started ? ['Started', started] : ['Starts', start], ended ? ['Ended', ended] : ['Ends', end]] as const;
  return <p class="facts schedule">{times.map(([words, at]) => at && <span key={words}><span class="quiet">{words}</span> <DateAndTime at={at} /></span>)}</p>;
}

/** The banner of the winner, once the contest is over. */
function Champions({ contest: { champions, standings } }: { contest: DocumentedContest }) {
  const first = standings.find(({ bot }) => bot === champions[0]);
  if (!first) return null;
  const { score, wins, draws, losses, note } = first;
  return (
    <div class="champions" role="group" aria-label="Champion">
      <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M6 3h12v2h3v3a4 4 0 0 1-4 4h-.5A6 6 0 0 1 13 14.9V18h3v3H8v-3h3v-3.1A6 6 0 0 1 7.5 12H7a4 4 0 0 1-4-4V5h3zm0 4H5v1a2 2 0 0 0 1.1 1.8zm12 0v2.8A2 2 0 0 0 19 8V7z" /></svg>
      <div>
        <p class="quiet">{champions.length > 1 ? 'They share the first place' : 'Champion'}</p>
        <p class="champion-names">{champions.map((bot) => <BotLink key={bot} name={bot} />)}</p>
        <p class="quiet">{[note, `${points(score)} points`, `${wins} won, ${draws} drawn, ${losses} lost`].filter(Boolean).join(' · ')}</p>
      </div>
    </div>
  );
}

/** How far the contest is, and what it waits for. */
export function ContestProgress({ contest }: { contest: DocumentedContest }) {
  const { played, expected, why, awaited, state } = contest;
  const began = state !== 'draft' && state !== 'open';
  return (
    <div class="progress">
      {began && expected > 0 && <progress max={Math.max(expected, played, 1)} value={played} aria-label="Matches played" />}
      {began && <p>{played.toLocaleString()}{expected > 0 && ` of ${state === 'over' ? '' : 'about '}${Math.max(expected, played).toLocaleString()}`} matches played.</p>}
      {!began && <p>{state === 'draft' ? 'This contest is a draft. It takes no bots yet.' : 'Bots can enter. The contest has not started.'}</p>}
      {state === 'paused' && <p>The contest is paused: no new match starts.</p>}
      {why && state !== 'over' && <p class="waits"><strong>It waits for the organiser:</strong> {why}</p>}
      {awaited.length > 0 && state === 'running' && <p class="waits"><strong>Awaited bots, with matches to play:</strong> <Awaited names={awaited} /></p>}
    </div>
  );
}

const MOST_AWAITED = 20;

function Awaited({ names }: { names: readonly string[] }) {
  const rest = names.length - MOST_AWAITED;
  return <>{names.slice(0, MOST_AWAITED).map((name, at) => <span key={name}>{at > 0 && ', '}<BotLink name={name} /></span>)}{rest > 0 && ` and ${rest.toLocaleString()} more`}</>;
}

function standingColumns({ standings, tieBreaks }: DocumentedContest): Column<ContestStanding>[] {
  const any = (count: (line: ContestStanding) => number | string) => standings.some(count);
  const columns: (Column<ContestStanding> | false)[] = [
    { title: 'Place', number: true, cell: ({ place }) => place },
    { title: 'Bot', head: true, cell: ({ bot, group }) => <><BotLink name={bot} /><NotComparable group={group} /></> },
    { title: 'Score', number: true, cell: ({ score }) => <strong>{points(score)}</strong> },
    any(({ rating }) => rating ?? 0) && { title: 'Rating', number: true, wide: true, cell: ({ rating, margin }) => <Rating rating={rating} low={below(rating, margin)} high={below(rating, margin, -1)} provisional={margin === null} /> },
    { title: 'W–D–L', number: true, cell: ({ wins, draws, losses }) => `${wins}–${draws}–${losses}` },
    any(({ byes }) => byes) && { title: 'Byes', number: true, wide: true, cell: ({ byes }) => byes },
    any(({ noShows }) => noShows) && { title: 'No-shows', number: true, wide: true, cell: ({ noShows }) => noShows },
    any(({ crashes }) => crashes) && { title: 'Crashes', number: true, wide: true, cell: ({ crashes }) => crashes },
    ...tieBreaks.map((name, at) => any(({ tieBreaks: values }) => values.length) && { title: TIE_BREAK_TITLES[name] ?? name, number: true, wide: true, cell: ({ tieBreaks: values }: ContestStanding) => (values[at] === undefined ? '' : points(values[at])) }),
    any(({ note }) => note) && { title: 'Note', cell: ({ note }) => note },
  ];
  return columns.filter((column) => column !== false);
}

/** The lower end of a rating's interval, or with the sign -1 the upper end. */
function below(rating: number | null, margin: number | null, sign = 1): number | null {
  return rating === null || margin === null ? null : rating - sign * margin;
}

function standingsCaption({ standings, tieBreaks, document: { players } }: DocumentedContest): string {
  const score = Number(players ?? 2) > 2 ? 'The score of a match is the share of opponents beaten.' : 'A win is 1 point, a draw ½.';
  const counts = 'W–D–L: won, drawn, lost. Ratings are from these matches alone, with 95 % intervals.';
  const broken = standings.some(({ tieBreaks: values }) => values.length);
  return broken ? `${score} ${counts} Ties are broken by: ${tieBreaks.map((name) => TIE_BREAK_TITLES[name] ?? name).join(', ')}.` : `${score} ${counts}`;
}

export function StandingsSection({ contest }: { contest: DocumentedContest }) {
  if (!contest.standings.length) return null;
  return (
    <section aria-label="Standings">
      <h2>{contest.state === 'over' ? 'Final standings' : 'Standings'}</h2>
      <RowsTable caption={standingsCaption(contest)} rows={contest.standings} columns={standingColumns(contest)} empty="" />
      {contest.repeated && <p class="quiet">{contest.repeated}</p>}
    </section>
  );
}

const GROUP: Column<ContestStanding>[] = [
  { title: 'Place', number: true, cell: ({ place }) => place },
  { title: 'Bot', head: true, cell: ({ bot }) => <BotLink name={bot} /> },
  { title: 'Score', number: true, cell: ({ score }) => <strong>{points(score)}</strong> },
  { title: 'W–D–L', number: true, cell: ({ wins, draws, losses }) => `${wins}–${draws}–${losses}` },
];

function GroupsSection({ contest }: { contest: DocumentedContest }) {
  const { advance = 2 } = documentOf(contest);
  if (!contest.groups.length) return null;
  return (
    <section aria-labelledby="groups">
      <h2 id="groups">Groups</h2>
      <p class="quiet">The best {advance} of each group {contest.rounds.length > 1 ? 'went' : 'go'} on to the knockout.</p>
      <ul class="cards">{contest.groups.map((lines, at) => <li key={at} class="card"><RowsTable caption={`Group ${at + 1}`} rows={lines} columns={GROUP} empty="" rowClass={(line) => (lines.indexOf(line) < advance ? 'advances' : '')} /></li>)}</ul>
    </section>
  );
}

function entrantColumns(entrants: readonly ContestEntrant[]): Column<ContestEntrant>[] {
  const columns: (Column<ContestEntrant> | false)[] = [
    { title: 'Bot', head: true, cell: ({ name }) => <BotLink name={name} /> },
    { title: 'Owner', cell: ({ owner }) => <bdi>{owner}</bdi> },
    entrants.some(({ version }) => version) && { title: 'Version', wide: true, cell: ({ version }) => <bdi>{version}</bdi> },
    entrants.some(({ left }) => left !== null) && { title: 'Withdrawn', cell: ({ left }) => (left === null ? '' : left > 0 ? `from round ${left}` : 'yes') },
  ];
  return columns.filter((column) => column !== false);
}

/** Entrants are in the standings once the contest runs, so the list is folded then. */
function EntrantsSection({ contest: { entrants, standings } }: { contest: DocumentedContest }) {
  const table = <RowsTable caption="In the order of their seeds" rows={entrants} columns={entrantColumns(entrants)} empty="No bot has entered yet." />;
  return (
    <section aria-label="Entrants">
      {standings.length ? <details><summary>Entrants ({entrants.length.toLocaleString()})</summary>{table}</details> : <><h2>Entrants</h2>{table}</>}
    </section>
  );
}

const LOG: Column<ContestLogLine>[] = [
  { title: 'When', cell: ({ when }) => <Moment at={when} /> },
  { title: 'Author', cell: ({ author }) => <bdi>{author}</bdi> },
  { title: 'Action', head: true, cell: ({ action }) => <bdi>{action}</bdi> },
  { title: 'Details', cell: ({ detail }) => <bdi>{detail}</bdi> },
];

export function LogSection({ log }: { log: readonly ContestLogLine[] }) {
  return <section aria-label="Log"><h2>Log</h2><RowsTable caption="Every change with its author, the latest first" rows={log} columns={LOG} limit={10} empty="Nothing has happened yet." /></section>;
}
