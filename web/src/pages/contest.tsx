/** A contest: its progress, live standings, and the crosstable. */
import { useEffect } from 'preact/hooks';
import type { Contest, Crosstable, Live, Standing, Standings } from '../api/types';
import { useRest } from '../api/use';
import { DataTable, type Column } from '../parts/data-table';
import { BotLink, GameLink } from '../parts/links';
import { MatchList } from '../parts/match-list';
import { Problem } from '../parts/problem';
import type { Params } from '../router';
import { LiveBoard } from '../viewer/live-board';

const EVERY = 4000;
const MOST_BOARDS = 8;

export default function ContestPage({ params }: { params: Params }) {
  const [game, name] = [params['game'] ?? '', params['name'] ?? ''];
  const at = `${encodeURIComponent(game)}/${encodeURIComponent(name)}`;
  const reading = useRest<Contest>(`/contests/${at}`, EVERY);
  useEffect(() => void (document.title = `${name} · Botdrome`), [name]);
  const contest = reading.value;
  if (!contest) return reading.error ? <><Problem words={reading.error} retry={reading.again} /><p><a href="/contests">All contests</a></p></> : <p class="quiet" role="status">Loading …</p>;
  return (
    <>
      <header>
        <h1><bdi>{contest.name}</bdi></h1>
        <p class="quiet"><GameLink game={contest.game} /> {contest.rankings.length > 0 && ` · ${contest.rankings.length} bots`}</p>
        <Progress contest={contest} />
      </header>
      <NowPlaying game={contest.game} contest={contest.name} />
      <section aria-label="Standings"><h2>Standings</h2><StandingsTable at={at} every={EVERY} /></section>
      <CrosstableSection at={at} played={contest.matches} />
      <section aria-label="Matches">
        <h2>Matches</h2>
        <MatchList caption="Matches of the contest" filters={{ game: contest.game, contest: contest.name }} games={false} limit={15} prefix="matches-" every={10_000} empty="No match yet." />
      </section>
    </>
  );
}

function Progress({ contest: { matches, running, planned } }: { contest: Contest }) {
  return (
    <div class="progress">
      <progress max={Math.max(planned, matches, 1)} value={matches} aria-label="Matches played" />
      <p>{matches.toLocaleString()} of {planned.toLocaleString()} matches played{running > 0 && `, ${running} running`}. <span class="quiet">More are planned when another bot comes.</span></p>
    </div>
  );
}

function NowPlaying({ game, contest }: { game: string; contest: string }) {
  const { value } = useRest<Live>(`/live?game=${encodeURIComponent(game)}`, EVERY);
  const tables = value?.tables.filter((table) => table.contest === contest).slice(-MOST_BOARDS) ?? [];
  if (tables.length === 0) return null;
  return (
    <section aria-label="Now playing">
      <h2>Now playing</h2>
      <ul class="boards">{tables.map(({ id, players }) => <li key={id}><LiveBoard match={id} game={game} players={players} /></li>)}</ul>
    </section>
  );
}

const COLUMNS: Column<Standing>[] = [
  { title: 'Place', number: true, sort: 'place', cell: ({ place }) => place },
  { title: 'Bot', head: true, sort: 'bot', cell: ({ bot }) => <BotLink name={bot} /> },
  { title: 'Points', number: true, sort: 'score', falling: true, cell: ({ score }) => <strong>{score}</strong> },
  { title: 'Played', number: true, sort: 'played', falling: true, cell: ({ played }) => played },
  { title: 'Won', number: true, wide: true, sort: 'wins', falling: true, cell: ({ wins }) => wins },
  { title: 'Drawn', number: true, wide: true, sort: 'draws', falling: true, cell: ({ draws }) => draws },
  { title: 'Lost', number: true, wide: true, sort: 'losses', falling: true, cell: ({ losses }) => losses },
];

export function StandingsTable({ at, every, limit = 25 }: { at: string; every: number; limit?: number }) {
  return (
    <DataTable<Standing, Standings> caption="3 points for a win, 1 for a draw" from={`/standings/${at}`} rows={(answer) => answer.bots} columns={COLUMNS}
      usual="place" limit={limit} prefix="standings-" every={every} empty="No match has ended yet." />
  );
}

function CrosstableSection({ at, played }: { at: string; played: number }) {
  const { value, again } = useRest<Crosstable>(`/crosstables/${at}`);
  useEffect(() => again(), [played]);
  if (!value || value.bots.length < 2) return null;
  const points = (cell: number[] | null) => (cell ? cell[0]! + cell[1]! / 2 : null);
  return (
    <section aria-label="Crosstable">
      <h2>Crosstable</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Crosstable, scrolls sideways">
        <table class="crosstable">
          <caption>Points of the bot on the left against each other bot{value.total > value.bots.length && `; the best ${value.bots.length} of ${value.total}`}</caption>
          <thead><tr><td /><th scope="col">Bot</th>{value.bots.map((bot, column) => <th key={bot} scope="col" class="number" title={bot}>{column + 1}</th>)}</tr></thead>
          <tbody>{value.bots.map((bot, row) => (
            <tr key={bot}>
              <td class="number quiet">{row + 1}</td><th scope="row"><BotLink name={bot} /></th>
              {value.rows[row]?.map((cell, column) => <td key={column} class={`number ${shade(cell)}`} title={cell ? `${cell[0]} won, ${cell[1]} drawn, ${cell[2]} lost` : 'not met'}>{row === column ? '×' : (points(cell) ?? '·')}</td>)}
            </tr>
          ))}</tbody>
        </table>
      </div>
    </section>
  );
}

function shade(cell: number[] | null): string {
  if (!cell) return 'quiet';
  const [wins, , losses] = cell as [number, number, number];
  return wins > losses ? 'ahead' : wins < losses ? 'behind' : '';
}
