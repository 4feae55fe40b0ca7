/** All matches, finished and running, with winner, contest and date. */
import { useEffect } from 'preact/hooks';
import { ChoiceFilter, DateFilter, GameFilter, TextFilter } from '../parts/filters';
import { MatchList } from '../parts/match-list';
import { path, query } from '../router';

export default function MatchesPage() {
  useEffect(() => void (document.title = 'Matches · Botdrome'), []);
  const asked = (name: string) => query.value.get(name);
  const status = asked('status') ?? 'ended';
  const until = asked('until');
  const filters = {
    game: asked('game'), bot: asked('bot'), winner: asked('winner'), contest: asked('contest'), since: asked('since'),
    until: until && dayAfter(until), status: status === 'all' ? null : status,
  };
  return (
    <>
      <h1>Matches</h1>
      <form class="filters" onSubmit={(event) => event.preventDefault()} aria-label="Which matches">
        <GameFilter />
        <ChoiceFilter name="status" title="Status" choices={{ '': 'finished', running: 'running', aborted: 'aborted', all: 'all' }} />
        <TextFilter name="bot" title="Player" /> <TextFilter name="winner" title="Winner" /> <TextFilter name="contest" title="Contest" />
        <DateFilter name="since" title="From" /> <DateFilter name="until" title="To" />
        {query.value.size > 0 && <a href={path.value}>Clear</a>}
      </form>
      <MatchList key={JSON.stringify(filters)} caption="Matches" filters={filters} every={15_000}
        empty={query.value.size > 0 ? 'No match fits. Names must be written in full; the search finds them by their beginning.' : <>No match has ended yet. <a href="/play">Play the first one.</a></>} />
    </>
  );
}

/** The server takes a moment before which matches started; the user chooses a whole day. */
function dayAfter(day: string): string {
  const next = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(next.getTime())) return day;
  next.setUTCDate(next.getUTCDate() + 1);
  return next.toISOString().slice(0, 10);
}
