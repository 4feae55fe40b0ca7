/** A game: its rules with a picture, the leaderboard, the house bots, and an example bot. */
import { useEffect } from 'preact/hooks';
import type { GameInFull } from '../api/types';
import { useRest } from '../api/use';
import { BringABot } from '../parts/bring-a-bot';
import { CopyLine } from '../parts/copy-line';
import { GamePicture } from '../parts/game-picture';
import { LeaderboardTable } from '../parts/leaderboard';
import { MatchList } from '../parts/match-list';
import { Problem } from '../parts/problem';
import type { Params } from '../router';
import { exampleBot } from './examples';
import { playersInWords } from './games';
import { gameTitle, rulesOf } from './rules';

export default function GamePage({ params }: { params: Params }) {
  const game = params['game'] ?? '';
  const reading = useRest<GameInFull>(`/games/${encodeURIComponent(game)}`);
  useEffect(() => void (document.title = `${gameTitle(game)} · Botdrome`), [game]);
  if (!reading.value) return reading.error ? <Problem words={reading.error} retry={reading.again} /> : <p class="quiet" role="status">Loading …</p>;
  const name = reading.value.name;
  return (
    <>
      <Rules game={reading.value} />
      <section aria-label="Leaderboard"><h2>Leaderboard</h2><LeaderboardTable game={name} prefix="board-" /></section>
      <div class="columns">
        <HouseBots game={reading.value} />
        <Example game={reading.value} />
      </div>
      <section aria-label="Recent matches">
        <h2>Recent matches</h2>
        <MatchList caption={`Matches of ${gameTitle(name)}`} filters={{ game: name }} games={false} limit={10} empty="Nobody has played this game here yet." />
      </section>
      <BringABot game={name} />
    </>
  );
}

function Rules({ game }: { game: GameInFull }) {
  const { title, gist, rules } = rulesOf(game.name);
  return (
    <header class="game-head">
      <div>
        <h1>{title}</h1>
        <p class="gist">{gist} {playersInWords(game.players)}</p>
        {rules.map((text) => <p key={text}>{text}</p>)}
        <p class="actions"><a class="button main" href={`/play?game=${game.name}`}>Play</a> <a class="button" href="#bring">Bring a bot</a> {rules.length > 0 && <a href={`/docs/games/${game.name.replaceAll('-', '_')}.html`}>All rules</a>}</p>
        {game.options.length > 0 && <Options game={game} />}
      </div>
      <GamePicture game={game.name} />
    </header>
  );
}

function Options({ game }: { game: GameInFull }) {
  return (
    <details>
      <summary>Options</summary>
      <table>
        <caption>Options of a table</caption>
        <thead><tr><th scope="col">Option</th><th scope="col">Usual</th><th scope="col">Meaning</th></tr></thead>
        <tbody>{game.options.map(({ name, default: usual, description }) => (
          <tr key={name}><th scope="row" class="mono">{name}</th><td class="mono">{JSON.stringify(usual)}</td><td>{description}</td></tr>
        ))}</tbody>
      </table>
    </details>
  );
}

function HouseBots({ game }: { game: GameInFull }) {
  return (
    <section aria-label="House bots">
      <h2>House bots</h2>
      <p class="quiet">They are always here, the weakest first. Log in with <code>"opponent": "house:NAME"</code>, or play against one now.</p>
      <ul class="lines">{game.levels.map(({ bot, level }) => (
        <li key={bot}><span class="mono">{bot}</span> <span class="quiet">{level}</span> <a href={`/play/${game.name}?opponent=${encodeURIComponent(bot)}&pace=stepped`}>Play</a></li>
      ))}</ul>
    </section>
  );
}

function Example({ game }: { game: GameInFull }) {
  const code = exampleBot(game.name);
  const opponent = game.house[0] ?? 'house:random';
  return (
    <section aria-label="An example bot">
      <h2>An example bot</h2>
      <p class="quiet">A function from what the bot sees to its move, in Python. Save it as <code>my_bot.py</code>.</p>
      {code && <CopyLine label="the example bot" text={code} />}
      <p class="quiet">Play a hundred matches on your machine:</p>
      <CopyLine label="the command to try it" text={`botdrome play ${game.name} my_bot.py ${opponent} -n 100`} />
      <details>
        <summary>What the bot sees, and a move</summary>
        <CopyLine label="a view by example" text={JSON.stringify(game.sample.view)} />
        <CopyLine label="a move by example" text={JSON.stringify(game.sample.move)} />
      </details>
    </section>
  );
}
