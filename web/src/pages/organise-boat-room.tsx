/** One boat room: waiting players, games, and the commands of its host. */
import { useState } from 'preact/hooks';
import type { BoatGameShown, BoatOrderDone, BoatPlayer, BoatRoomShown } from '../api/types';
import { askFirst, type Question } from '../parts/ask-first';
import { change } from '../parts/doing';
import { RoomFields, rulesIn } from './organise-room-fields';

type Order = Record<string, unknown> & { do: string };
type Give = (order: Order) => Promise<boolean>;
type GiveAfter = (question: Question, order: (text: string) => Order) => void;

interface RoomProps {
  shown: BoatRoomShown;
  changed: () => void;
}

export function BoatRoom({ shown, changed }: RoomProps) {
  const { port, room, settings: { title, min, max, width, height, boats, auto_start } } = shown;
  const give: Give = async (order) => {
    const done = await change<BoatOrderDone>('/operator/boats/orders', { method: 'POST', body: { title, order } }, ({ done: words }) => `${title}: ${words}`);
    changed();
    return done !== null;
  };
  const giveAfter: GiveAfter = (question, order) => void askFirst(question).then((text) => text !== null && give(order(text)));
  return (
    <section class="card boat-room" aria-label={`Room ${title}`}>
      <h2><bdi>{title}</bdi></h2>
      <p class="quiet">{port === null ? 'No port is open for this room.' : `Players join at port ${port}.`} {min} to {max} players, {width} by {height}, boats {boats}, {auto_start ? 'starts by itself' : 'you start it'}</p>
      <Waiting shown={shown} give={give} giveAfter={giveAfter} />
      {room.games.map((game) => <Game key={game.number} game={game} give={give} giveAfter={giveAfter} />)}
      <Announce give={give} />
      <Blacklist shown={shown} giveAfter={giveAfter} />
      {!room.over && <Rules shown={shown} changed={changed} />}
      <p class="form-end">
        <button type="button" disabled={room.over} onClick={() => giveAfter({ title: `Close the room ${title}?`, words: 'All its games are aborted, and nobody can join any more.', action: 'Close the room' }, () => ({ do: 'quit' }))}>Close the room</button>
      </p>
    </section>
  );
}

interface HostProps {
  give: Give;
  giveAfter: GiveAfter;
}

function Waiting({ shown: { room, settings: { min } }, give, giveAfter }: { shown: BoatRoomShown } & HostProps) {
  if (room.gathering === null) return <p>{room.over ? 'The room is closed.' : 'No game can be joined now.'}</p>;
  const joined = room.gathering.length;
  return (
    <div class="waiting">
      <h3>Game {room.gathers}: {joined} joined</h3>
      <ul class="sailors">
        {room.gathering.map(({ name, address }) => (
          <li key={name}><bdi>{name}</bdi> <span class="quiet mono">{address}</span> <Kick name={name} game={room.gathers} giveAfter={giveAfter} /></li>
        ))}
      </ul>
      <button type="button" class="main" disabled={joined < min} onClick={() => void give({ do: 'start' })}>Start the game</button>
    </div>
  );
}

function Kick({ name, game, giveAfter }: { name: string; game: number | null; giveAfter: GiveAfter }) {
  const order = () => ({ do: 'boot', player: name, ...(game === null ? {} : { game }) });
  const ban = () => ({ do: 'blacklist player', player: name });
  return (
    <span class="actions">
      <button type="button" aria-label={`Kick ${name}`} onClick={() => giveAfter({ title: `Kick ${name}?`, words: 'Its connection is closed. It may come back.', action: 'Kick' }, order)}>Kick</button>
      <button type="button" aria-label={`Blacklist ${name}`} onClick={() => giveAfter({ title: `Blacklist ${name}?`, words: 'It is kicked, and cannot join this room again until you clear the blacklist.', action: 'Blacklist' }, ban)}>Blacklist</button>
    </span>
  );
}

function Game({ game: { number, match, squares, players }, giveAfter }: { game: BoatGameShown } & HostProps) {
  const row = (player: BoatPlayer) => (
    <tr key={player.name}>
      <th scope="row" class="row-head"><bdi>{player.name}</bdi>{player.toMove && <span class="badge">to move</span>}</th>
      <td><bdi>{player.status}</bdi></td><td class="number">{player.score}</td><td class="number">{player.turns}</td><td class="number">{player.skips}</td><td class="number">{player.hits} of {squares}</td>
      <td><Kick name={player.name} game={number} giveAfter={giveAfter} /></td>
    </tr>
  );
  return (
    <div class="boat-game scroll">
      <table>
        <caption>Game {number} · <a href={`/matches/${match}`}>Watch</a></caption>
        <thead><tr><th scope="col">Player</th><th scope="col">Status</th><th scope="col" class="number">Score</th><th scope="col" class="number">Turns</th><th scope="col" class="number">Skips</th><th scope="col" class="number">Hits taken</th><th scope="col">Actions</th></tr></thead>
        <tbody>{players.map(row)}</tbody>
      </table>
      <p class="actions">
        <button type="button" onClick={() => giveAfter({ title: 'Skip this turn?', words: 'The player to move loses its turn. All are told the reason.', action: 'Skip', field: 'Reason', needed: true }, (reason) => ({ do: 'skip', game: number, reason }))}>Skip the turn</button>
        <button type="button" onClick={() => giveAfter({ title: `Abort game ${number}?`, words: 'The game ends now and counts for nobody. This cannot be undone.', action: 'Abort' }, () => ({ do: 'abort', game: number }))}>Abort the game</button>
      </p>
    </div>
  );
}

function Announce({ give }: { give: Give }) {
  const [text, setText] = useState('');
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (await give({ do: 'message', text })) setText('');
  };
  return (
    <form class="announce" aria-label="Message to all players" onSubmit={(event) => void submit(event)}>
      <label class="field">Message to all players <input required maxLength={200} value={text} onInput={(event) => setText(event.currentTarget.value)} /></label>
      <button type="submit">Send</button>
    </form>
  );
}

function Blacklist({ shown: { room: { blacklist } }, giveAfter }: { shown: BoatRoomShown; giveAfter: GiveAfter }) {
  const all = [...blacklist.players, ...blacklist.addresses];
  const clear = () => giveAfter({ title: 'Clear the blacklist?', words: 'All names and addresses on it may join again.', action: 'Clear' }, () => ({ do: 'clear' }));
  if (!all.length) return null;
  return <p>Blacklist: <bdi>{all.join(', ')}</bdi> <button type="button" onClick={clear}>Clear</button></p>;
}

function Rules({ shown: { settings, room }, changed }: RoomProps) {
  const [rules, setRules] = useState(() => rulesIn(settings));
  const busy = (room.gathering?.length ?? 0) > 0;
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    await change<BoatRoomShown>('/operator/boats', { method: 'PUT', body: { title: settings.title, settings: rules } }, 'The rules hold from the next game on.');
    changed();
  };
  return (
    <details>
      <summary>Change the rules</summary>
      <form aria-label={`Rules of ${settings.title}`} onSubmit={(event) => void submit(event)}>
        <div class="form"><RoomFields rules={rules} onChange={setRules} /></div>
        {busy && <p class="quiet">Players have joined by the present rules. Start their game first.</p>}
        <p class="form-end"><button type="submit" disabled={busy}>Apply</button></p>
      </form>
    </details>
  );
}
