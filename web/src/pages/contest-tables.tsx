/** Parts of all contests: the tables that are played now, the crosstable, and the results as files. */
import { useEffect } from 'preact/hooks';
import { BASE } from '../api/rest';
import type { Crosstable, Live } from '../api/types';
import { useRest } from '../api/use';
import { BotLink } from '../parts/links';
import { LiveBoard } from '../viewer/live-board';
import { points } from './contest-words';

const EVERY = 4000;
const MOST_BOARDS = 8;

export function NowPlaying({ game, contest }: { game: string; contest: string }) {
  const { value } = useRest<Live>(`/live?game=${encodeURIComponent(game)}`, EVERY);
  const tables = value?.tables.filter((table) => table.contest === contest).slice(-MOST_BOARDS) ?? [];
  return (
    <section aria-label="Now playing">
      <h2>Now playing</h2>
      <ul class="boards">{tables.map(({ id, players }) => <li key={id}><LiveBoard match={id} game={game} players={players} /></li>)}</ul>
      {value && tables.length === 0 && <p class="quiet">No match of the contest is running at the moment.</p>}
    </section>
  );
}

export function CrosstableSection({ at, played }: { at: string; played: number }) {
  const { value, again } = useRest<Crosstable>(`/crosstables/${at}`);
  useEffect(() => again(), [played]);
  if (!value || value.bots.length < 2) return null;
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
              {value.rows[row]?.map((cell, column) => <td key={column} class={`number ${shade(cell)}`} title={cell ? `${cell[0]} won, ${cell[1]} drawn, ${cell[2]} lost` : 'not met'}>{row === column ? '×' : cell ? points(cell[0]! + cell[1]! / 2) : '·'}</td>)}
            </tr>
          ))}</tbody>
        </table>
      </div>
    </section>
  );
}

/** `at`: game and name, as in the address. */
export function ResultFiles({ at, name }: { at: string; name: string }) {
  const file = (table: string) => <a href={`${BASE}/contest-results/${at}?table=${table}`} download={`${name}-${table}.csv`}>{table === 'matches' ? 'Matches' : 'Standings'} as CSV</a>;
  return <p class="actions">{file('standings')} {file('matches')} <a href={`/matches?contest=${encodeURIComponent(name)}`}>All matches of the contest</a></p>;
}

function shade(cell: number[] | null): string {
  if (!cell) return 'quiet';
  const [wins, , losses] = cell as [number, number, number];
  return wins > losses ? 'ahead' : wins < losses ? 'behind' : '';
}
