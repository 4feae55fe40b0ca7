/** All contests. */
import { useEffect } from 'preact/hooks';
import type { AllContests, ContestLine } from '../api/types';
import { DataTable, type Column } from '../parts/data-table';
import { GameFilter } from '../parts/filters';
import { ContestLink, GameLink } from '../parts/links';
import { Moment } from '../parts/moment';
import { query } from '../router';

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
      <p class="filters"><GameFilter /></p>
      <DataTable<ContestLine, AllContests> caption="Contests" from="/contests" filters={{ game: query.value.get('game') }} rows={(answer) => answer.contests}
        columns={COLUMNS} usual="-last" every={15_000}
        empty="There are none yet. Bots that log in with the name of a contest meet each other in it, each pair equally often." />
    </>
  );
}
