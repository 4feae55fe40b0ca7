/** Overview: the numbers of clients and matches, and the contests with their standings. */
import { queryOf } from '../api/rest';
import type { AllContests, BansShown, ClientsShown, Contest, ContestLine, Live } from '../api/types';
import { useRest } from '../api/use';
import { Moment } from '../parts/moment';
import { Problem } from '../parts/problem';
import { points } from './contest-words';

const EVERY = 5000;
/** Contests, and lines of the standings of each. */
const CONTESTS = 6;
const LINES = 5;

export function Overview() {
  const clients = useRest<ClientsShown>('/operator/clients?limit=1', EVERY);
  const live = useRest<Live>('/live', EVERY);
  const bans = useRest<BansShown>('/operator/bans?limit=1', EVERY);
  return (
    <>
      <dl class="figures">
        <Figure title="Clients connected" value={clients.value?.total} to="/organise/clients" />
        <Figure title="Matches running" value={live.value?.total} to="/organise/matches" />
        <Figure title="Bans in force" value={bans.value?.total} to="/organise/bans" />
      </dl>
      <h2>Contests</h2>
      <Contests />
    </>
  );
}

function Figure({ title, value, to }: { title: string; value: number | undefined; to: string }) {
  return <div class="card"><dt>{title}</dt><dd><a href={to}>{value === undefined ? '…' : value.toLocaleString()}</a></dd></div>;
}

function Contests() {
  const { value, error, again } = useRest<AllContests>(`/contests${queryOf({ sort: '-last', limit: CONTESTS })}`, EVERY);
  if (!value) return error ? <Problem words={error} retry={again} /> : <p class="quiet" role="status">Loading …</p>;
  if (!value.contests.length) return <p class="quiet">No contest has been played yet. Bots enter one by naming it when they log in.</p>;
  return (
    <>
      <div class="contest-cards">{value.contests.map((line) => <Standings key={`${line.game}/${line.name}`} line={line} />)}</div>
      {value.total > CONTESTS && <p><a href="/contests">All {value.total} contests</a></p>}
    </>
  );
}

function Standings({ line: { game, name, matches, last } }: { line: ContestLine }) {
  const to = `/contests/${encodeURIComponent(game)}/${encodeURIComponent(name)}`;
  const { value } = useRest<Contest>(to, EVERY);
  return (
    <section class="card" aria-label={`Contest ${name}`}>
      <h3><a href={to}><bdi>{name}</bdi></a></h3>
      <p class="quiet">{game} · {matches.toLocaleString()} {matches === 1 ? 'match' : 'matches'} · last <Moment at={last} /></p>
      <table>
        <thead><tr><th scope="col">Bot</th><th scope="col" class="number">Won</th><th scope="col" class="number">Drawn</th><th scope="col" class="number">Lost</th><th scope="col" class="number">Points</th></tr></thead>
        <tbody>
          {value?.rankings.slice(0, LINES).map(({ bot, wins, draws, losses, score }) => (
            <tr key={bot}><th scope="row" class="row-head"><bdi>{bot}</bdi></th><td class="number">{wins}</td><td class="number">{draws}</td><td class="number">{losses}</td><td class="number">{points(score)}</td></tr>
          ))}
        </tbody>
      </table>
      {value && value.rankings.length > LINES && <p class="quiet">and {value.rankings.length - LINES} more</p>}
    </section>
  );
}
