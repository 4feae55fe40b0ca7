/** Play: choose a game, an opponent and a pace. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { guestAccount, keepName, newInvite } from '../api/guest';
import type { PaceName, PlayWish } from '../api/player-state';
import type { Bots, Game, Games } from '../api/types';
import { useRest } from '../api/use';
import { wishPath } from '../api/wish';
import { GamePicture } from '../parts/game-picture';
import { Problem } from '../parts/problem';
import { go, query } from '../router';
import { NameField } from './play-name';
import { changed, Options, type Texts } from './play-options';
import { playersInWords } from './games';
import { rulesOf } from './rules';

/** Set just before the page of the game is shown: the choice is complete, so the match may begin. */
export const ready = signal(false);

type Against = 'house' | 'bot' | 'friend' | 'anybody';

const AGAINST: readonly (readonly [Against, string, string])[] = [
  ['house', 'A house bot', 'begins at once'],
  ['bot', 'A bot by its name', 'if it waits or can be called'],
  ['friend', 'A friend', 'you get a link to send'],
  ['anybody', 'Anybody', 'the next player that wants the same game'],
];
const PACES: readonly (readonly [PaceName, string, string])[] = [
  ['stepped', 'Stepped', 'the game waits for your move'],
  ['slow', 'Slow', 'it goes on every 2 seconds'],
];

export default function PlayPage() {
  const games = useRest<Games>('/games');
  useEffect(() => void (document.title = 'Play · Botdrome'), []);
  if (!games.value) return games.error ? <Problem words={games.error} retry={games.again} /> : <p class="quiet" role="status">Loading …</p>;
  return (
    <>
      <h1>Play</h1>
      <p class="quiet">You play as a guest: nothing to register, and nothing is rated. Your name and a secret stay in this browser.</p>
      <Choice games={games.value.games} />
    </>
  );
}

function Choice({ games }: { games: Game[] }) {
  const asked = query.value.get('game');
  const [name, setName] = useState(games.find((one) => one.name === asked)?.name ?? games[0]?.name ?? '');
  const game = games.find((one) => one.name === name);
  return (
    <>
      <fieldset class="choices games">
        <legend>Game</legend>
        {games.map((one) => (
          <Card key={one.name} group="game" value={one.name} chosen={name} choose={setName} title={rulesOf(one.name).title} words={playersInWords(one.players)}
            picture={<GamePicture game={one.name} small />} />
        ))}
      </fieldset>
      {game && <Details key={game.name} game={game} />}
    </>
  );
}

interface CardProps<T extends string> {
  group: string;
  value: T;
  chosen: T;
  choose: (value: T) => void;
  title: string;
  words: string;
  picture?: ComponentChildren;
}

function Card<T extends string>({ group, value, chosen, choose, title, words, picture }: CardProps<T>) {
  return (
    <label class="choice">
      <input type="radio" name={group} value={value} checked={chosen === value} onChange={() => choose(value)} />
      <span class="choice-title">{title}</span>
      <span class="choice-words">{words}</span>
      {picture}
    </label>
  );
}

/** All but the game. */
function Details({ game }: { game: Game }) {
  const beat = game.terms.pace.beat;
  const [against, setAgainst] = useState<Against>(wanted(game));
  const [opponent, setOpponent] = useState(query.value.get('opponent') ?? '');
  const asked = game.levels.find(({ bot }) => bot === query.value.get('opponent'));
  const [house, setHouse] = useState((asked ?? game.levels.find(({ usual }) => usual))?.bot ?? '');
  const [pace, setPace] = useState<PaceName>('stepped');
  const [players, setPlayers] = useState(Math.max(2, game.players[0] ?? 2));
  const [texts, setTexts] = useState<Texts>({});
  const [name, setName] = useState(guestAccount().name);
  const single = against === 'bot';
  const start = (event: Event) => {
    event.preventDefault();
    keepName(name.trim());
    const named = { house, bot: opponent.trim(), friend: null, anybody: null }[against];
    const wish: PlayWish = {
      game: game.name, pace, players: single ? 2 : players, options: changed(game.options, texts),
      opponent: named, invite: against === 'friend' ? newInvite() : null,
    };
    ready.value = true;
    go(wishPath(wish));
  };
  return (
    <form class="play-form" onSubmit={start}>
      <fieldset class="choices">
        <legend>Opponent</legend>
        {AGAINST.filter(([value]) => value !== 'house' || game.levels.length).map(([value, title, words]) => (
          <Card key={value} group="against" value={value} chosen={against} choose={setAgainst} title={title} words={words} />
        ))}
      </fieldset>
      {against === 'house' && (
        <fieldset class="choices levels">
          <legend>Level</legend>
          {game.levels.map(({ bot, level }) => <Card key={bot} group="level" value={bot} chosen={house} choose={setHouse} title={level} words={bot.replace('house:', '')} />)}
        </fieldset>
      )}
      {against === 'bot' && <BotByName game={game.name} name={opponent} setName={setOpponent} />}
      {beat && (
        <fieldset class="choices">
          <legend>Pace</legend>
          {PACES.map(([value, title, words]) => (
            <Card key={value} group="pace" value={value} chosen={pace} choose={setPace} title={title} words={words} />
          ))}
        </fieldset>
      )}
      {!single && <PlayerCount game={game} players={players} setPlayers={setPlayers} />}
      {game.options.length > 0 && <Options options={game.options} texts={texts} setTexts={setTexts} />}
      <NameField name={name} setName={setName} />
      <p><button type="submit" class="main big">Play</button></p>
    </form>
  );
}

function wanted(game: Game): Against {
  const opponent = query.value.get('opponent');
  if (opponent && !opponent.startsWith('house:')) return 'bot';
  return game.levels.length ? 'house' : 'anybody';
}

function BotByName({ game, name, setName }: { game: string; name: string; setName: (name: string) => void }) {
  const bots = useRest<Bots>(`/bots?game=${encodeURIComponent(game)}&limit=100`);
  return (
    <label class="field">
      Name of the bot
      <input required maxLength={64} value={name} list="bots-of-game" autocomplete="off" onInput={(event) => setName(event.currentTarget.value)} />
      <datalist id="bots-of-game">{bots.value?.bots.map((bot) => <option key={bot.name} value={bot.name} />)}</datalist>
    </label>
  );
}

function PlayerCount({ game, players, setPlayers }: { game: Game; players: number; setPlayers: (players: number) => void }) {
  const [least, most] = [Math.max(2, game.players[0] ?? 2), game.players[1] ?? 2];
  if (least === most) return null;
  return (
    <label class="field">
      Players
      <input type="number" required min={least} max={most} value={players} onInput={(event) => setPlayers(Number(event.currentTarget.value))} />
    </label>
  );
}
