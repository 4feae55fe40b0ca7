/** All registered bots, with rating, record and what else is known of them. */
import { useEffect } from 'preact/hooks';
import type { BotFace, Bots } from '../api/types';
import { DataTable, type Column } from '../parts/data-table';
import { GameFilter } from '../parts/filters';
import { BotLink, GameLink } from '../parts/links';
import { Moment } from '../parts/moment';
import { NotComparable, Rating } from '../parts/rating';
import { query } from '../router';

/** Matches won, drawn and lost. */
export function recordWords({ games, wins, draws, losses }: Pick<BotFace, 'games' | 'wins' | 'draws' | 'losses'>): string {
  return games === 0 ? 'no rated match' : `${wins} won, ${draws} drawn, ${losses} lost`;
}

/** How it talks to the server. */
export function protocolWords({ protocol, called }: Pick<BotFace, 'protocol' | 'called'>): string | null {
  return called ? 'HTTP, called' : protocol && protocol.charAt(0).toUpperCase() + protocol.slice(1);
}

const UNKNOWN = <span class="quiet">–</span>;
const COLUMNS: Column<BotFace>[] = [
  { title: 'Bot', head: true, sort: 'name', cell: (bot) => <><BotLink name={bot.name} /><NotComparable {...bot} /></> },
  { title: 'Game', wide: true, sort: 'game', cell: (bot) => <GameLink game={bot.game} /> },
  { title: 'Rating', number: true, sort: 'rating', falling: true, cell: (bot) => <Rating {...bot} /> },
  { title: 'Record', number: true, sort: 'games', falling: true, cell: (bot) => (bot.games ? <span title={recordWords(bot)}>{bot.wins}–{bot.draws}–{bot.losses}</span> : UNKNOWN) },
  { title: 'Last seen', sort: 'seen', falling: true, cell: ({ seen }) => (seen ? <Moment at={seen} /> : UNKNOWN) },
  { title: 'Protocol', wide: true, sort: 'protocol', cell: (bot) => protocolWords(bot) ?? UNKNOWN },
  { title: 'Language', wide: true, sort: 'language', cell: ({ language }) => (language ? <bdi>{language}</bdi> : UNKNOWN) },
  { title: 'Owner', wide: true, sort: 'owner', cell: (bot) => <bdi>{bot.owner}</bdi> },
  { title: 'Registered', wide: true, sort: 'registered', falling: true, cell: (bot) => <Moment at={bot.registered} /> },
];

export default function BotsPage() {
  useEffect(() => void (document.title = 'Bots · Botdrome'), []);
  const game = query.value.get('game');
  return (
    <>
      <h1>Bots</h1>
      <p class="filters"><GameFilter /> <a href="/compare">Compare two bots</a> <a href="/#bring">Bring a bot</a></p>
      <DataTable<BotFace, Bots> caption="Registered bots; the record counts rated matches: won–drawn–lost" from="/bots" filters={{ game }} rows={(answer) => answer.bots} columns={COLUMNS}
        rowClass={({ provisional, rating }) => (provisional || rating === null ? 'provisional' : '')} usual="registered" first={game ? '-rating' : '-seen'}
        empty={<>No bot is registered{game ? ' for this game' : ''} yet. <a href="/#bring">Bring the first one.</a></>} />
    </>
  );
}
