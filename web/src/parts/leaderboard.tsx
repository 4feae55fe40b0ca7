/** The leaderboard of a game. */
import type { Leaderboard, LeaderboardLine } from '../api/types';
import { query } from '../router';
import { DataTable, type Column } from './data-table';
import { BotLink } from './links';
import { Moment } from './moment';
import { OptionSets } from './option-sets';
import { BeatsNext, NotComparable, Rating } from './rating';
import { TableSizes } from './table-sizes';

function columns(game: string): Column<LeaderboardLine>[] {
  return [
    { title: 'Place', number: true, cell: (line) => line.place ?? '–' },
    { title: 'Bot', head: true, sort: 'name', cell: (line) => <><BotLink name={line.name} game={game} />{line.version && <bdi class="quiet" title="Version"> {line.version}</bdi>}<NotComparable {...line} /></> },
    { title: 'Owner', wide: true, sort: 'owner', cell: (line) => <bdi class="quiet">{line.owner}</bdi> },
    { title: 'Rating', number: true, sort: 'rating', falling: true, cell: (line) => <Rating {...line} /> },
    { title: 'Beats next', number: true, wide: true, cell: (line) => <BeatsNext {...line} /> },
    { title: 'Games', number: true, sort: 'games', falling: true, cell: (line) => line.games.toLocaleString() },
    { title: 'Won', number: true, wide: true, sort: 'wins', falling: true, cell: (line) => line.wins.toLocaleString() },
    { title: 'Drawn', number: true, wide: true, sort: 'draws', falling: true, cell: (line) => line.draws.toLocaleString() },
    { title: 'Lost', number: true, wide: true, sort: 'losses', falling: true, cell: (line) => line.losses.toLocaleString() },
  ];
}

export function LeaderboardTable({ game, limit = 25, prefix = '' }: { game: string; limit?: number; prefix?: string }) {
  const players = query.value.get(`${prefix}players`), options = query.value.get(`${prefix}options`);
  return (
    <DataTable<LeaderboardLine, Leaderboard> caption="Bots by rating" from={`/games/${encodeURIComponent(game)}/leaderboard`} filters={{ players, options }} rows={(answer) => answer.bots}
      columns={columns(game)} rowClass={({ provisional, rating }) => (provisional || rating === null ? 'provisional' : '')} usual="-rating" limit={limit} prefix={prefix} every={30_000}
      empty={<>No bot is registered for this game yet. <a href="#bring">Bring the first one.</a></>}
      note={({ matches, rated, players: shown, sizes, options: chosen, optionSets }) => <>{matches.toLocaleString()} rated {matches === 1 ? 'match' : 'matches'}{rated && <>, rated <Moment at={rated} /></>}<TableSizes shown={shown} sizes={sizes} name={`${prefix}players`} /><OptionSets shown={chosen} sets={optionSets} prefix={prefix} /></>} />
  );
}
