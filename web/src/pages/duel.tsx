/** The players of the duel arena. */
import { useEffect } from 'preact/hooks';
import type { DuelPlayer, DuelPlayers } from '../api/types';
import { DataTable, type Column } from '../parts/data-table';

export function DuellistLink({ name }: { name: string }) {
  return <a class="name" href={`/profile/${encodeURIComponent(name)}`}><bdi>{name}</bdi></a>;
}

const COLUMNS: Column<DuelPlayer>[] = [
  { title: 'Player', head: true, cell: ({ name, online }) => <><DuellistLink name={name} /> {online && <span class="badge good">online</span>}</> },
  { title: 'Rating', number: true, cell: ({ rating }) => Math.round(rating) },
  { title: 'Boards won', number: true, cell: ({ score }) => score.toLocaleString() },
  { title: 'Lost', number: true, wide: true, cell: ({ losses }) => losses.toLocaleString() },
  { title: 'Drawn', number: true, wide: true, cell: ({ draws }) => draws.toLocaleString() },
  { title: 'Boards', number: true, wide: true, cell: ({ boards }) => boards.toLocaleString() },
  { title: 'Invalid', number: true, wide: true, cell: ({ invalid }) => invalid.toLocaleString() },
  { title: 'Online', number: true, cell: ({ seconds }) => onlineTime(seconds) },
];

export default function DuelPage() {
  useEffect(() => void (document.title = 'Duel arena · Botdrome'), []);
  return (
    <>
      <h1>Duel arena</h1>
      <p class="quiet">Gomoku over TCP. The rating is Elo, from 1200 on. <a href="/history">All boards</a> · <a href="/games/gomoku">Gomoku</a></p>
      <DataTable<DuelPlayer, DuelPlayers> caption="Players, the most boards won first" from="/duel/players" rows={(answer) => answer.players} columns={COLUMNS}
        usual="" limit={50} every={3000} empty={<>Nobody has played over this protocol yet. <a href="/games/gomoku#bring">Bring a bot.</a></>} />
    </>
  );
}

export function onlineTime(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return minutes ? `${minutes} min` : `${Math.floor(seconds)} s`;
}
