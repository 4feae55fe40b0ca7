/** What the users of Bomberman have and did, beside the map. */
import type { BombermanView, User } from './bomberman_view';
import { SeatSign } from './controls';
import { type Seat, nameOf } from './renderer';

export function BomberStats({ view, seats }: { view: BombermanView; seats: readonly Seat[] }) {
  return (
    <div class="bomber-stats">
      <p>Round {view.round} of {view.rounds}. {closingInWords(view)}</p>
      <table>
        <thead>
          <tr><th scope="col">Player</th>{['Bombs', 'Range', 'Kills', 'Crates'].map((word) => <th key={word} scope="col" class="number">{word}</th>)}</tr>
        </thead>
        <tbody>{view.users.map((user) => <Row key={user.seat} user={user} you={view.you === user.seat} seats={seats} />)}</tbody>
      </table>
    </div>
  );
}

function Row({ user, you, seats }: { user: User; you: boolean; seats: readonly Seat[] }) {
  return (
    <tr class={user.alive ? undefined : 'out'}>
      <th scope="row">
        <SeatSign player={seats[user.seat]?.player ?? user.seat} /> <span class="bomber-name" title={nameOf(seats, user.seat)}>{nameOf(seats, user.seat)}</span>
        {you && ' (you)'}{!user.alive && ' – out'}
      </th>
      <td class="number">{user.alive ? user.bombsLeft : ''}</td>
      <td class="number">{user.alive ? user.range : ''}</td>
      <td class="number">{user.kills}</td>
      <td class="number">{user.crates}</td>
    </tr>
  );
}

function closingInWords({ closing: { from, at }, round }: BombermanView): string {
  if (at === null) return '';
  const left = at - round + 1;
  if (round < from) return `Walls close in from round ${from}.`;
  return left === 1 ? 'Walls close at the end of this round.' : `Walls close in ${left} rounds.`;
}
