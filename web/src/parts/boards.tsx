/** Columns of tables of boards that were played over duel arena. */
import type { PlayerBoard } from '../api/types';
import type { Column } from './data-table';
import { Moment } from './moment';

function Side({ name, rating }: { name: string; rating: number | undefined }) {
  return <><a class="name" href={`/profile/${encodeURIComponent(name)}`}><bdi>{name}</bdi></a> <span class="quiet">{rating === undefined ? '' : Math.round(rating)}</span></>;
}

/** `player`: the results are those of this player; null: the winner is named. */
export function boardColumns(player: string | null): Column<PlayerBoard>[] {
  return [
    { title: 'Board', head: true, cell: ({ id }) => <a href={`/board/${id}`}>{id}</a> },
    { title: 'Started', wide: true, cell: ({ started }) => <Moment at={started} /> },
    { title: 'Crosses', cell: ({ crosses, ratings }) => <Side name={crosses} rating={ratings[0]} /> },
    { title: 'Noughts', cell: ({ circles, ratings }) => <Side name={circles} rating={ratings[1]} /> },
    { title: 'Moves', number: true, wide: true, cell: ({ moves }) => moves },
    player === null
      ? { title: 'Winner', cell: ({ winner }) => (winner === null ? <span class="quiet">draw</span> : <bdi>{winner}</bdi>) }
      : { title: 'Result', cell: ({ winner }) => <span class={winner === player ? 'good' : winner ? 'bad' : 'quiet'}>{winner === player ? 'won' : winner ? 'lost' : 'draw'}</span> },
  ];
}
