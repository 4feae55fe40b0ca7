/** All registered bots. */
import { useEffect } from 'preact/hooks';
import type { Bot, Bots } from '../api/types';
import { DataTable, type Column } from '../parts/data-table';
import { GameFilter } from '../parts/filters';
import { BotLink, GameLink } from '../parts/links';
import { Moment } from '../parts/moment';
import { query } from '../router';

const COLUMNS: Column<Bot>[] = [
  { title: 'Bot', head: true, sort: 'name', cell: (bot) => <BotLink name={bot.name} /> },
  { title: 'Game', sort: 'game', cell: (bot) => <GameLink game={bot.game} /> },
  { title: 'Owner', wide: true, sort: 'owner', cell: (bot) => <bdi>{bot.owner}</bdi> },
  { title: 'Registered', sort: 'registered', falling: true, cell: (bot) => <Moment at={bot.registered} /> },
];

export default function BotsPage() {
  useEffect(() => void (document.title = 'Bots · Botdrome'), []);
  const game = query.value.get('game');
  return (
    <>
      <h1>Bots</h1>
      <p class="filters"><GameFilter /> <a href="/#bring">Bring a bot</a></p>
      <DataTable<Bot, Bots> caption="Registered bots" from="/bots" filters={{ game }} rows={(answer) => answer.bots} columns={COLUMNS} usual="registered"
        empty={<>No bot is registered{game ? ' for this game' : ''} yet. <a href="/#bring">Bring the first one.</a></>} />
    </>
  );
}
