/** All contests. */
import { useEffect } from 'preact/hooks';
import type { AllContests, ContestLine, ListedContest, ListedContests } from '../api/types';
import { DataTable, type Column } from '../parts/data-table';
import { GameFilter } from '../parts/filters';
import { ContestLink, contestPath, GameLink } from '../parts/links';
import { Moment } from '../parts/moment';
import { query } from '../router';
import { StateBadge } from './contest-document';
import { FORMAT_TITLES } from './contest-words';

export const LISTED: Column<ListedContest>[] = [
  { title: 'Contest', head: true, cell: ({ game, name, title }) => <a class="name" href={contestPath(game, name)}><bdi>{title}</bdi></a> },
  { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
  { title: 'Game', cell: ({ game }) => <GameLink game={game} /> },
  { title: 'Format', wide: true, cell: ({ format }) => FORMAT_TITLES[format] ?? format },
  { title: 'Bots', number: true, cell: ({ entrants }) => entrants.toLocaleString() },
  { title: 'Start', wide: true, cell: ({ start }) => start && <time dateTime={start}>{new Date(start).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}</time> },
];

const COLUMNS: Column<ContestLine>[] = [
  { title: 'Contest', head: true, sort: 'name', cell: ({ game, name }) => <ContestLink game={game} name={name} /> },
  { title: 'Game', sort: 'game', cell: ({ game }) => <GameLink game={game} /> },
  { title: 'Matches', number: true, sort: 'matches', falling: true, cell: ({ matches }) => matches.toLocaleString() },
  { title: 'First match', wide: true, sort: 'first', falling: true, cell: ({ first }) => <Moment at={first} /> },
  { title: 'Last match', sort: 'last', falling: true, cell: ({ last }) => <Moment at={last} /> },
];

export default function ContestsPage() {
  useEffect(() => void (document.title = 'Contests · Botdrome'), []);
  return (
    <>
      <h1>Contests</h1>
      <DataTable<ListedContest, ListedContests> caption="Contests of organisers, the newest first" from="/contest-documents" rows={(answer) => answer.contests}
        columns={LISTED} usual="" limit={10} prefix="organised-" every={15_000} empty="There are none yet. The organiser of this server creates them at /organise/contests." />
      <h2>Contests with matches</h2>
      <p class="filters"><GameFilter /></p>
      <DataTable<ContestLine, AllContests> caption="Contests" from="/contests" filters={{ game: query.value.get('game') }} rows={(answer) => answer.contests}
        columns={COLUMNS} usual="-last" every={15_000}
        empty="There are none yet. Bots that log in with the name of a contest meet each other in it, each pair equally often." />
    </>
  );
}
