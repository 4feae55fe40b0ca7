/** Matches in a table: players, winner, contest and time. */
import type { ComponentChildren } from 'preact';
import type { Query } from '../api/rest';
import type { Match, Matches } from '../api/types';
import { DataTable, type Column } from './data-table';
import { BotLink, ContestLink, GameLink, MatchLink, matchPath } from './links';
import { gameTitle } from '../pages/rules';
import { Moment } from './moment';

const MOST_NAMES = 4;

function Players({ match }: { match: Match }) {
  const { players, result, game } = match;
  const shown = players.slice(0, MOST_NAMES);
  return (
    <span class="match-players">
      {shown.map((name, at) => (
        <span key={at} class={result?.victor === name ? 'winner' : undefined}>{at > 0 && <span class="quiet"> – </span>}<BotLink name={name} game={game} /></span>
      ))}
      {players.length > MOST_NAMES && <span class="quiet"> and {players.length - MOST_NAMES} more</span>}
    </span>
  );
}

function resultOf({ status, result }: Match): string {
  if (status === 'running') return 'running';
  if (status === 'aborted') return 'aborted';
  return result?.victor?.replace(/^house:/, '') ?? 'draw';
}

/** A match that is over, in one line. */
export function MatchLine({ match }: { match: Match }) {
  const result = resultOf(match);
  return (
    <>
      <Players match={match} />
      <span class="quiet"> {gameTitle(match.game)} · {result === 'draw' ? 'draw' : <><bdi>{result}</bdi> won</>} · <Moment at={match.ended ?? match.started} /> · </span>
      <MatchLink id={match.id}>Replay</MatchLink>
    </>
  );
}

/** The result as one bot sees it. */
function resultFor(match: Match, bot: string): string {
  if (match.status !== 'ended' || !match.result) return match.status;
  const seat = match.seats.find((one) => one.bot === bot);
  const how = match.result.victor === bot ? 'won' : match.result.victor === null && seat?.place === 1 ? 'draw' : 'lost';
  const words = seat?.cause && seat.cause !== 'complete' ? `${how} (${seat.cause})` : how;
  return match.void === null ? words : `void: ${words}`;
}

function columns(games: boolean, contests: boolean, bot?: string): Column<Match>[] {
  const all: (Column<Match> | false)[] = [
    { title: 'Players', head: true, cell: (match) => <Players match={match} /> },
    games && { title: 'Game', wide: true, cell: (match) => <GameLink game={match.game} /> },
    bot === undefined
      ? { title: 'Winner', wide: true, cell: (match) => <><bdi class={match.result?.victor ? '' : 'quiet'}>{resultOf(match)}</bdi>{match.void !== null && <span class="quiet"> (void)</span>}</> }
      : { title: 'Result', cell: (match) => <Outcome words={resultFor(match, bot)} /> },
    contests && { title: 'Contest', wide: true, cell: (match) => match.contest && <ContestLink game={match.game} name={match.contest} /> },
    { title: 'Started', sort: 'started', falling: true, cell: (match) => <Moment at={match.started} /> },
    { title: 'Match', cell: (match) => <><MatchLink id={match.id}>{match.status === 'running' ? 'Watch' : 'Replay'}</MatchLink>{bot !== undefined && <Why match={match} bot={bot} />}</> },
  ];
  return all.filter((column) => column !== false);
}

/** For the owner: the flight record of a match that is over. */
function Why({ match, bot }: { match: Match; bot: string }) {
  const seat = match.seats.find((one) => one.bot === bot)?.seat;
  if (match.status === 'running' || seat === undefined) return null;
  return <> · <a href={`${matchPath(match.id)}/why/${seat}`}>Why?</a></>;
}

function Outcome({ words }: { words: string }) {
  return <span class={words.startsWith('won') ? 'good' : words.startsWith('lost') ? 'bad' : 'quiet'}>{words}</span>;
}

interface MatchListProps {
  caption: string;
  filters?: Query;
  /** The results are those of this bot. */
  bot?: string;
  games?: boolean;
  limit?: number;
  prefix?: string;
  every?: number;
  empty: ComponentChildren;
}

export function MatchList({ caption, filters = {}, bot, games = true, limit = 25, prefix = '', every = 0, empty }: MatchListProps) {
  return (
    <DataTable<Match, Matches> caption={caption} from="/matches" filters={{ ...filters, ...(bot === undefined ? {} : { bot }) }} rows={(answer) => answer.matches}
      columns={columns(games, !filters['contest'], bot)} usual="-started" limit={limit} prefix={prefix} every={every} empty={empty} />
  );
}
