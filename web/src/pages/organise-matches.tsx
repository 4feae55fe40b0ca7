/** Running matches: a match that is stuck can be ended. */
import type { Live, Table } from '../api/types';
import { useRest } from '../api/use';
import { askFirst } from '../parts/ask-first';
import { change } from '../parts/doing';
import { Moment } from '../parts/moment';
import { Problem } from '../parts/problem';

export function RunningMatches() {
  const { value, error, again } = useRest<Live>('/live', 2000);
  if (!value) return error ? <Problem words={error} retry={again} /> : <p class="quiet" role="status">Loading …</p>;
  if (!value.tables.length) return <p class="quiet">No match runs now.</p>;
  return (
    <div class="data-table scroll">
      <table>
        <caption>{value.total.toLocaleString()} running, the longest running first{value.total > value.tables.length && `; ${value.tables.length} are shown`}</caption>
        <thead>
          <tr><th scope="col">Match</th><th scope="col">Players</th><th scope="col">Game</th><th scope="col" class="wide">Contest</th><th scope="col">Started</th><th scope="col" class="number">Steps</th><th scope="col" class="number wide">Spectators</th><th scope="col">Actions</th></tr>
        </thead>
        <tbody>{value.tables.map((table) => <Row key={table.id} table={table} ended={again} />)}</tbody>
      </table>
    </div>
  );
}

function Row({ table: { id, players, game, contest, started, steps, spectators }, ended }: { table: Table; ended: () => void }) {
  const names = players.join(', ');
  return (
    <tr>
      <th scope="row" class="row-head"><a href={`/matches/${id}`} class="mono">{id.slice(0, 8)}</a></th>
      <td><bdi>{names}</bdi></td>
      <td>{game}</td>
      <td class="wide">{contest && <bdi>{contest}</bdi>}</td>
      <td><Moment at={started} /></td>
      <td class="number">{steps.toLocaleString()}</td>
      <td class="number wide">{spectators}</td>
      <td><button type="button" aria-label={`End the match of ${names}`} onClick={() => void endMatch(id, names).then(ended)}>End</button></td>
    </tr>
  );
}

export async function endMatch(id: string, names: string): Promise<void> {
  const words = `The match of ${names} is aborted. It counts for nobody. This cannot be undone.`;
  const reason = await askFirst({ title: 'End this match?', words, action: 'End the match', field: 'Reason (it is stored)' });
  if (reason !== null) await change(`/operator/matches/${encodeURIComponent(id)}/end`, { method: 'POST', body: { reason } }, 'The match was ended.');
}
