/** The latest matches of the bots of a class or of a participant. */
import type { ClassPlayer, ClassResult } from '../api/types';
import { gameTitle } from '../pages/rules';
import { BotLink, matchPath } from './links';
import { Moment } from './moment';

export function ClassResults({ results, empty }: { results: readonly ClassResult[]; empty: string }) {
  if (!results.length) return <p class="quiet">{empty}</p>;
  return (
    <ul class="class-results">
      {results.map(({ id, game, status, started, players }) => (
        <li key={id}>
          <a href={matchPath(id)}>{players.map((player, at) => <span key={at}>{at > 0 && ' – '}<Player player={player} won={isWinner(player, players)} /></span>)}</a>
          <span class="quiet"> {gameTitle(game)}, {status === 'ended' ? <Moment at={started} /> : status}</span>
        </li>
      ))}
    </ul>
  );
}

function Player({ player: { bot, participant }, won }: { player: ClassPlayer; won: boolean }) {
  const words = bot.startsWith('house:') ? <BotLink name={bot} /> : participant === null || participant === bot ? <bdi>{bot}</bdi> : <><bdi>{bot}</bdi> (<bdi>{participant}</bdi>)</>;
  return won ? <strong>{words} won</strong> : words;
}

/** Whether a player came first alone. */
export function isWinner(player: ClassPlayer, players: readonly ClassPlayer[]): boolean {
  return player.place === 1 && players.filter(({ place }) => place === 1).length === 1;
}
