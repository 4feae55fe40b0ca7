/** All games. */
import { useEffect } from 'preact/hooks';
import type { Game, Games } from '../api/types';
import { useRest } from '../api/use';
import { GamePicture } from '../parts/game-picture';
import { Problem } from '../parts/problem';
import { gameTitle, rulesOf } from './rules';

export default function GamesPage() {
  useEffect(() => void (document.title = 'Games · Botdrome'), []);
  const { value, error, again } = useRest<Games>('/games');
  return (
    <>
      <h1>Games</h1>
      {error && !value && <Problem words={error} retry={again} />}
      {!value && !error && <p class="quiet" role="status">Loading …</p>}
      <ul class="cards pictures">{value?.games.map((game) => <li key={game.name} class="card"><GameCard game={game} /></li>)}</ul>
    </>
  );
}

function GameCard({ game: { name, players } }: { game: Game }) {
  return (
    <>
      <GamePicture game={name} small />
      <h2><a href={`/games/${name}`}>{gameTitle(name)}</a></h2>
      <p class="quiet">{rulesOf(name).gist} {playersInWords(players)}</p>
      <p class="actions"><a class="button" href={`/play?game=${name}`}>Play</a></p>
    </>
  );
}

export function playersInWords([least, most]: readonly number[]): string {
  return least === most ? `${least} players.` : `${least} to ${most} players.`;
}
