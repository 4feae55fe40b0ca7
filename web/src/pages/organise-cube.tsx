/** Battlecube: games that the organiser starts, one or many in a row, and changes as they run. */
import { useState } from 'preact/hooks';
import type { CubeRunShown, CubeRunsShown, Games } from '../api/types';
import { useRest } from '../api/use';
import { change } from '../parts/doing';
import { Problem } from '../parts/problem';
import { CubeFields, startSetup, type CubeSetup } from './organise-cube-fields';
import { CubeRun } from './organise-cube-run';

type PlayerKind = 'house' | 'url' | 'waiting' | 'connected';

interface PlayerRow {
  key: number;
  kind: PlayerKind;
  name: string;
  /** The house bot, or the URL. */
  from: string;
}

const KINDS: Record<PlayerKind, string> = { house: 'house bot', url: 'bot by URL', waiting: 'bot that waits here', connected: 'bot by botdrome connect' };
const HOUSE = 'house:';
/** The number of runs that are shown at first. */
const OPEN = 2;

export function Battlecube() {
  const { value, error, again } = useRest<CubeRunsShown>('/operator/cube', 1000);
  const house = useRest<Games>('/games').value?.games.find(({ name }) => name === 'battlecube')?.house ?? [];
  return (
    <>
      {house.length > 0 && <NewRun house={house} started={again} />}
      <h2>Games</h2>
      {!value && (error ? <Problem words={error} retry={again} /> : <p class="quiet" role="status">Loading …</p>)}
      {value?.runs.length === 0 && <p class="quiet">No games have been started here since the server started.</p>}
      {value?.runs.slice(0, OPEN).map((run, at) => <CubeRun key={run.id} run={run} number={value.runs.length - at} changed={again} />)}
      {value && value.runs.length > OPEN && (
        <details>
          <summary>Earlier games ({value.runs.length - OPEN})</summary>
          {value.runs.slice(OPEN).map((run, at) => <CubeRun key={run.id} run={run} number={value.runs.length - OPEN - at} changed={again} />)}
        </details>
      )}
    </>
  );
}

function NewRun({ house, started }: { house: readonly string[]; started: () => void }) {
  const [setup, setSetup] = useState<CubeSetup>(startSetup);
  const [games, setGames] = useState(1);
  const [players, setPlayers] = useState<PlayerRow[]>(() => [0, 1].map((at) => houseRow(at, house)));
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const body = { setup, games, players: players.map(playerOf) };
    const done = games === 1 ? 'The game has started.' : `${games} games are being played in a row.`;
    if (await change<CubeRunShown>('/operator/cube', { method: 'POST', body }, done)) started();
  };
  const edit = (key: number, changes: Partial<PlayerRow>) => setPlayers(players.map((row) => (row.key === key ? { ...row, ...changes } : row)));
  const add = () => setPlayers([...players, houseRow(Math.max(...players.map(({ key }) => key), -1) + 1, house)]);
  return (
    <form class="card" aria-label="Start Battlecube games" onSubmit={(event) => void submit(event)}>
      <div class="form">
        <CubeFields setup={setup} onChange={setSetup} />
        <label class="field">Games in a row <input type="number" min={1} max={1000} required value={games} onInput={(event) => setGames(Number(event.currentTarget.value))} /></label>
      </div>
      <fieldset>
        <legend>Players</legend>
        {players.map((row, at) => (
          <PlayerFields key={row.key} number={at + 1} row={row} house={house} onChange={(changes) => edit(row.key, changes)}
            onRemove={players.length > 1 ? () => setPlayers(players.filter(({ key }) => key !== row.key)) : null} />
        ))}
        <button type="button" disabled={players.length >= 64} onClick={add}>Add a player</button>
      </fieldset>
      <p class="form-end"><button type="submit" class="main">Start</button></p>
    </form>
  );
}

interface PlayerFieldsProps {
  number: number;
  row: PlayerRow;
  house: readonly string[];
  onChange: (changes: Partial<PlayerRow>) => void;
  onRemove: (() => void) | null;
}

function PlayerFields({ number, row, house, onChange, onRemove }: PlayerFieldsProps) {
  const kindChanged = (kind: PlayerKind) => onChange({ kind, from: kind === 'house' ? (house[0] ?? '') : '' });
  return (
    <div class="player-row" role="group" aria-label={`Player ${number}`}>
      <label class="field">Kind
        <select value={row.kind} onChange={(event) => kindChanged(event.currentTarget.value as PlayerKind)}>
          {Object.entries(KINDS).map(([kind, words]) => <option key={kind} value={kind}>{words}</option>)}
        </select>
      </label>
      <label class="field">Name <input required maxLength={64} value={row.name} onInput={(event) => onChange({ name: event.currentTarget.value })} /></label>
      {row.kind === 'house' && (
        <label class="field">House bot
          <select value={row.from} onChange={(event) => onChange({ from: event.currentTarget.value })}>{house.map((name) => <option key={name} value={name}>{name.replace(HOUSE, '')}</option>)}</select>
        </label>
      )}
      {row.kind === 'url' && <label class="field">URL <input type="url" required placeholder="http://127.0.0.1:8080" value={row.from} onInput={(event) => onChange({ from: event.currentTarget.value })} /></label>}
      {onRemove && <button type="button" aria-label={`Remove player ${number}`} onClick={onRemove}>Remove</button>}
    </div>
  );
}

function houseRow(key: number, house: readonly string[]): PlayerRow {
  return { key, kind: 'house', name: `Player ${key + 1}`, from: house[key % house.length] ?? '' };
}

function playerOf({ kind, name, from }: PlayerRow): { name: string; url: string } {
  const urls: Record<PlayerKind, string> = { house: from, url: from, waiting: `bot:${name}`, connected: `connect:${encodeURIComponent(name)}` };
  return { name, url: urls[kind] };
}
