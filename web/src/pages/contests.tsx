/** All contests, each once: open, running and finished ones, and those that bots open by naming them. */
import { useEffect } from 'preact/hooks';
import { BASE } from '../api/rest';
import type { AllContests, ContestLine, ListedContest, ListedContests } from '../api/types';
import { DataTable, type Column } from '../parts/data-table';
import { GameFilter } from '../parts/filters';
import { BotLink, ContestLink, contestPath, GameLink } from '../parts/links';
import { DateAndTime, Moment } from '../parts/moment';
import { StateBadge } from '../parts/state-badge';
import { query } from '../router';
import { ENTER, entryHint, FORMAT_TITLES } from './contest-words';

const CONTEST: Column<ListedContest> = { title: 'Contest', head: true, cell: ({ game, name, title }) => <a class="name" href={contestPath(game, name)}><bdi>{title}</bdi></a> };
const STATE: Column<ListedContest> = { title: 'State', cell: ({ state }) => <StateBadge state={state} /> };
const FACTS: Column<ListedContest>[] = [
  { title: 'Game', wide: true, cell: ({ game }) => <GameLink game={game} /> },
  { title: 'Format', wide: true, cell: ({ format }) => FORMAT_TITLES[format] ?? format },
  { title: 'Bots', number: true, cell: ({ entrants }) => entrants.toLocaleString() },
];
const START: Column<ListedContest> = { title: 'Start', cell: ({ start }) => (start ? <DateAndTime at={start} /> : <span class="quiet">when its organiser starts it</span>) };
const END: Column<ListedContest> = { title: 'End', wide: true, cell: ({ end }) => end && <DateAndTime at={end} /> };
const ENTRY: Column<ListedContest> = { title: 'Entry', cell: (contest) => <EntryLink contest={contest} /> };
const CHAMPION: Column<ListedContest> = { title: 'Champion', cell: ({ champions }) => (champions.length ? champions.map((bot, at) => [at > 0 && ', ', <BotLink key={bot} name={bot} />]) : <span class="quiet">none</span>) };
const RESULTS: Column<ListedContest> = { title: 'Results', cell: ({ game, name }) => <a href={`${BASE}/contest-results/${encodeURIComponent(game)}/${encodeURIComponent(name)}`} download={`${name}.csv`}>CSV</a> };

/** The columns for its organiser, besides the contest. */
export const LISTED: Column<ListedContest>[] = [STATE, ...FACTS, { ...START, wide: true }];

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
      <p class="filters"><GameFilter /> <span class="quiet">Times are in your time zone.</span></p>
      <Some title="Open" state="coming" caption="Contests that have not started" columns={[CONTEST, STATE, ...FACTS, START, ENTRY]} empty="No contest is open for entry." />
      <Some title="Running" state="playing" caption="Contests that are being played" columns={[CONTEST, STATE, ...FACTS, END, ENTRY]} empty="No contest is running." />
      <Some title="Finished" state="over" caption="Contests that are over" columns={[CONTEST, CHAMPION, ...FACTS, RESULTS]} empty="No contest is over." />
      <h2>Opened by bots</h2>
      <DataTable<ContestLine, AllContests> caption="Contests without an organiser" from="/contests" filters={{ document: 'no', game: query.value.get('game') }} rows={(answer) => answer.contests}
        columns={COLUMNS} usual="-last" every={15_000}
        empty="There are none yet. Bots that log in with the name of a contest meet each other in it, each pair equally often." />
    </>
  );
}

function Some({ title, state, ...table }: { title: string; state: string; caption: string; columns: Column<ListedContest>[]; empty: string }) {
  return (
    <>
      <h2>{title}</h2>
      <DataTable<ListedContest, ListedContests> {...table} from="/contest-documents" filters={{ state, game: query.value.get('game') }} rows={({ contests }) => contests} usual="" limit={10} prefix={`${state}-`} every={15_000} />
    </>
  );
}

export function EntryLink({ contest }: { contest: ListedContest }) {
  const hint = entryHint(contest);
  return hint ? <a href={contestPath(contest.game, contest.name) + ENTER}>{hint}</a> : <span class="quiet">{contest.state === 'draft' ? 'not yet' : 'closed'}</span>;
}
