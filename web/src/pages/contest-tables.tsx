/** Parts of all contests: the tables that are played now, and the crosstable. */
import { useEffect } from 'preact/hooks';
import type { Crosstable, Live } from '../api/types';
import { useRest } from '../api/use';
import { BotLink } from '../parts/links';
import { LiveBoard } from '../viewer/live-board';

const EVERY = 4000;
const MOST_BOARDS = 8;

export function NowPlaying({ game, contest }: { game: string; contest: string }) {
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

export function CrosstableSection({ at, played }: { at: string; played: number }) {
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
