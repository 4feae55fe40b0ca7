/** The statistics of the Bomberman users, beside the map. */
import type { BombermanView, User } from './bomberman_view';
import { SeatSign } from './controls';
import { type Seat, nameOf } from './renderer';

const ICONS = {
  'bombs left': <><circle cx="7" cy="9.4" r="4.6" /><path class="line" d="M9.8 5.4q1.4 -2.6 3.6 -1.6" /></>,
  range: <path class="line" d="M8 1.8V14.2M1.8 8H14.2M6 3.6L8 1.6L10 3.6M6 12.4L8 14.4L10 12.4M3.6 6L1.6 8L3.6 10M12.4 6L14.4 8L12.4 10" />,
  kills: <><path d="M8 2a5.4 5.4 0 0 0 -3 9.9v2.3h6v-2.3A5.4 5.4 0 0 0 8 2z" /><path class="hole" d="M5.9 6.4v2M10.1 6.4v2" /></>,
  crates: <path class="line" d="M3 3H13V13H3zL13 13" />,
};

export function BomberStats({ view, seats }: { view: BombermanView; seats: readonly Seat[] }) {
  return (
    <div class="bomber-stats">
      <p>Round {view.round} of {view.rounds}. {closingInWords(view)}</p>
      <ul aria-label="Users">{view.users.map((user) => <UserStats key={user.seat} user={user} you={view.you === user.seat} seats={seats} />)}</ul>
    </div>
  );
}

function UserStats({ user, you, seats }: { user: User; you: boolean; seats: readonly Seat[] }) {
  const name = nameOf(seats, user.seat);
  return (
    <li class={user.alive ? undefined : 'out'}>
      <div class="bomber-name" title={name}>
        <SeatSign player={seats[user.seat]?.player ?? user.seat} />
        <span>{name}</span>{you && <b>you</b>}{!user.alive && <b>out</b>}
      </div>
      <div class="bomber-counts">
        {user.alive && <Count words="bombs left" value={user.bombsLeft} />}
        {user.alive && <Count words="range" value={user.range} />}
        <Count words="kills" value={user.kills} />
        <Count words="crates" value={user.crates} />
      </div>
    </li>
  );
}

function Count({ words, value }: { words: keyof typeof ICONS; value: number }) {
  return (
    <span title={`${words}: ${value}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">{ICONS[words]}</svg>
      <span class="hidden">{words} </span>{value}
    </span>
  );
}

function closingInWords({ closing: { from, at }, round }: BombermanView): string {
  if (at === null) return '';
  const left = at - round + 1;
  if (round < from) return `Walls close in from round ${from}.`;
  return left === 1 ? 'Walls close at the end of this round.' : `Walls close in ${left} rounds.`;
}
