/** One run of Battlecube games: its state, actions and scores. */
import { useState } from 'preact/hooks';
import type { CubeRunShown } from '../api/types';
import { askFirst } from '../parts/ask-first';
import { change } from '../parts/doing';
import { LiveBoard } from '../viewer/live-board';
import { CubeFields, setupIn, setupInWords } from './organise-cube-fields';
import { ScorePlot } from './organise-plot';
import { summaries } from './organise-scores';

interface RunProps {
  run: CubeRunShown;
  changed: () => void;
}

const STATES: Record<CubeRunShown['state'], string> = { running: 'running', paused: 'paused', done: 'done', stopped: 'stopped', failed: 'failed' };

export function CubeRun({ run, number, changed }: RunProps & { number: number }) {
  const names = run.players.map((player) => String(player['name']));
  const live = run.state === 'running' || run.state === 'paused';
  return (
    <section class="card cube-run" aria-label={`Games, start ${number}: ${names.join(', ')}`}>
      <div class="cube-run-head">
        <h3><bdi>{names.slice(0, 6).join(' – ')}</bdi>{names.length > 6 && ` and ${names.length - 6} more`}</h3>
        <span class={`badge state-${run.state}`}>{STATES[run.state]}</span>
      </div>
      <p>{run.results.length} of {run.games} {run.games === 1 ? 'game' : 'games'} played{run.error && <>. <strong>{run.error}</strong></>} <span class="quiet">· {setupInWords(setupIn(run.setup))}</span></p>
      {Object.entries(run.troubles).map(([name, words]) => <p key={name} class="notice failed"><bdi>{name}</bdi> was put out: {words}</p>)}
      {live && <progress max={run.games} value={run.results.length} aria-label="Games played" />}
      {live && <Controls run={run} changed={changed} />}
      <div class="cube-run-body">
        {run.match && <LiveBoard key={run.match} match={run.match} game="battlecube" players={names} />}
        {run.results.length > 0 && <Scores run={run} names={names} />}
      </div>
    </section>
  );
}

function Controls({ run, changed }: RunProps) {
  const [setup, setSetup] = useState(() => setupIn(run.setup));
  const path = `/operator/cube/${run.id}`;
  const put = (body: unknown, done: string) => void change<CubeRunShown>(path, { method: 'PUT', body }, done).then(changed);
  const stop = async () => {
    const words = 'The game that runs is aborted, and no further one is started.';
    if ((await askFirst({ title: 'Stop these games?', words, action: 'Stop' })) === null) return;
    await change<CubeRunShown>(path, { method: 'DELETE' }, 'The games were stopped.');
    changed();
  };
  const apply = (event: SubmitEvent) => {
    event.preventDefault();
    put({ setup }, 'The change holds from the next tick on.');
  };
  const paused = run.state === 'paused';
  return (
    <>
      <p class="actions">
        <button type="button" onClick={() => put({ paused: !paused }, paused ? 'The game goes on.' : 'The game is paused.')}>{paused ? 'Resume' : 'Pause'}</button>
        <button type="button" onClick={() => void stop()}>Stop</button>
        {run.match && <a class="button" href={`/matches/${run.match}`}>Watch</a>}
      </p>
      <details>
        <summary>Change the game as it runs</summary>
        <form class="form" aria-label="Change the game as it runs" onSubmit={apply}>
          <CubeFields setup={setup} onChange={setSetup} />
          <p class="form-end"><button type="submit">Apply</button></p>
        </form>
      </details>
    </>
  );
}

function Scores({ run, names }: { run: CubeRunShown; names: string[] }) {
  const lines = summaries(run.results, names);
  const last = run.results.at(-1)!;
  return (
    <div class="cube-scores">
      <table>
        <caption>Scores. A score is the tick up to which a player lived.</caption>
        <thead><tr><th scope="col">Player</th><th scope="col" class="number">Won</th><th scope="col" class="number">Mean</th><th scope="col" class="number">Best</th><th scope="col" class="number">Last</th></tr></thead>
        <tbody>
          {lines.map(({ name, won, mean, best }) => (
            <tr key={name}><th scope="row" class="row-head"><bdi>{name}</bdi></th><td class="number">{won}</td><td class="number">{mean.toFixed(1)}</td><td class="number">{best}</td><td class="number">{last.scores[name] ?? '–'}</td></tr>
          ))}
        </tbody>
      </table>
      {run.results.length > 1 && <ScorePlot results={run.results} names={names} />}
      <p class="quiet">Last game: <a href={`/matches/${last.match}`} class="mono">{last.match.slice(0, 8)}</a>, {last.winner ? <>won by <bdi>{last.winner}</bdi></> : last.result === 'TIE' ? 'a tie' : 'stopped'}</p>
    </div>
  );
}
