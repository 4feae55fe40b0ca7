/** The profile of a duel arena player, with the last hundred boards. */
import { useEffect } from 'preact/hooks';
import type { DuelProfile } from '../api/types';
import { useRest } from '../api/use';
import { boardColumns } from '../parts/boards';
import { botPath } from '../parts/links';
import { Problem } from '../parts/problem';
import type { Params } from '../router';
import { onlineTime } from './duel';

export default function DuellistPage({ params }: { params: Params }) {
  const name = params['name'] ?? '';
  const reading = useRest<DuelProfile>(`/duel/players/${encodeURIComponent(name)}`, 5000);
  useEffect(() => void (document.title = `${name} · Duel arena`), [name]);
  if (!reading.value) return reading.error ? <><Problem words={reading.error} retry={reading.again} /><p><a href="/duel">All players of duel arena</a></p></> : <p class="quiet" role="status">Loading …</p>;
  const { player, boards } = reading.value;
  return (
    <>
      <h1><bdi>{name}</bdi> {player.online && <span class="badge good">online</span>}</h1>
      <p class="figures">
        <span class="figure">{Math.round(player.rating)}</span>
        <span>{player.boards} boards: {player.score} won, {player.draws} drawn, {player.losses} lost</span>
        <span>{player.invalid} lost by an illegal move, out of time or by going away</span>
        <span>{onlineTime(player.seconds)} online</span>
      </p>
      <p class="quiet"><a href="/duel">Duel arena</a> · <a href={botPath(name)}>All matches under this name</a></p>
      <BoardTable name={name} boards={boards} />
    </>
  );
}

function BoardTable({ name, boards }: { name: string; boards: DuelProfile['boards'] }) {
  const columns = boardColumns(name);
  if (boards.length === 0) return <p class="quiet">No board has ended yet.</p>;
  return (
    <table>
      <caption>The last {boards.length} boards, the latest first</caption>
      <thead><tr>{columns.map(({ title, number, wide }) => <th key={title} scope="col" class={`${number ? 'number' : ''} ${wide ? 'wide' : ''}`}>{title}</th>)}</tr></thead>
      <tbody>{boards.map((board) => (
        <tr key={board.id}>{columns.map(({ title, cell, number, wide }) => <td key={title} class={`${number ? 'number' : ''} ${wide ? 'wide' : ''}`}>{cell(board)}</td>)}</tr>
      ))}</tbody>
    </table>
  );
}
