/** How a match stood after its steps: the curve under the time line, and its turning points. */
import { useMemo, useRef, useState } from 'preact/hooks';
import { ask } from '../api/rest';
import type { Evaluation, MatchEvaluation } from '../api/types';
import { useRest } from '../api/use';
import { Problem } from '../parts/problem';
import { Chart, type ChartData } from '../viewer/chart';
import { stepOf, type Showing } from '../viewer/showing';
import { resultOf } from '../viewer/result';
import { nameOf } from '../viewer/words';

const MOST_LINES = 10;

export interface Evaluating {
  evaluation: Evaluation | null;
  /** Whether it is known that there is one or none yet. */
  known: boolean;
  asking: boolean;
  error: string | null;
  ask: () => void;
}

/** The evaluation of a match, if it is stored; `ask` has it made. */
export function useEvaluation(match: string): Evaluating {
  const path = `/matches/${encodeURIComponent(match)}/evaluation`;
  const stored = useRest<MatchEvaluation>(path);
  const [made, setMade] = useState<Evaluation | null>(null);
  const [asking, setAsking] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const make = () => {
    setAsking(true);
    setError(null);
    ask<MatchEvaluation>(path, { method: 'POST' })
      .then(({ evaluation }) => setMade(evaluation), (problem: Error) => setError(problem.message))
      .finally(() => setAsking(false));
  };
  return { evaluation: made ?? stored.value?.evaluation ?? null, known: stored.value !== null || stored.error !== null, asking, error, ask: make };
}

/** `player`: the one whose turning points come first. */
export function EvaluationPart({ showing, evaluating, player = null }: { showing: Showing; evaluating: Evaluating; player?: number | null }) {
  const { film } = showing;
  const { evaluation, asking, error } = evaluating;
  const section = useRef<HTMLElement>(null);
  const result = resultOf(film);
  if (!result || result.causes.includes('aborted') || film.header.players.length < 2 || !evaluating.known) return null;
  const find = () => {
    section.current?.focus(); // the button goes away
    evaluating.ask();
  };
  return (
    <section class="evaluation" aria-label="Evaluation" tabIndex={-1} ref={section}>
      {evaluation && <Shown showing={showing} evaluation={evaluation} player={player} />}
      {!evaluation && error !== null && <Problem words={error} retry={find} />}
      {asking && <p class="quiet" role="status">House bots play on from positions of this match. This takes up to a minute …</p>}
      {!evaluation && !asking && error === null && (
        <p><button type="button" onClick={find}>Find the turning points</button> <span class="quiet">House bots play on from positions of this match, and show where it turned.</span></p>
      )}
    </section>
  );
}

function Shown({ showing, evaluation, player }: { showing: Showing; evaluation: Evaluation; player: number | null }) {
  const { film, digest, playback, version } = showing;
  const two = film.header.players.length === 2;
  const title = two ? 'Chance to win' : 'Expected place';
  const chart = useMemo(() => (
    <Chart
      title={title} data={() => curve(showing, evaluation)} version={version} playback={playback} players={Math.min(MOST_LINES, film.header.players.length)}
      unit={two ? percent : place} range={two ? [0, 1] : [film.header.players.length, 1]} label={(index) => String(stepOf(digest, index))}
      summary={inWords(showing, evaluation)}
    />
  ), [evaluation, film, digest, version]);
  return (
    <>
      {chart}
      <Turns showing={showing} evaluation={evaluation} player={player} />
      <p class="quiet">Estimates: {evaluation.method}{evaluation.method === 'solved exactly' ? '' : '. Other players may do better or worse'}.</p>
    </>
  );
}

function Turns({ showing: { film, digest, playback, links }, evaluation, player }: { showing: Showing; evaluation: Evaluation; player: number | null }) {
  const own = (turn: { player: number }) => Number(turn.player !== player);
  const turns = [...evaluation.turns].sort((one, other) => own(one) - own(other) || one.step - other.step);
  if (!turns.length) return <p>No single step turned this match.</p>;
  const seek = (event: MouseEvent, step: number) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    digest.read();
    playback.seek(digest.indexOf(step));
  };
  return (
    <>
      <h2>Turning points</h2>
      <ol class="turns">
        {turns.map((turn) => (
          <li key={`${turn.step}-${turn.player}`}>
            <a href={links?.page(turn.step) ?? '#'} onClick={(event) => seek(event, turn.step)}>After step {turn.step}</a>: <bdi>{nameOf(film.header, turn.player)}</bdi> {turn.words}.
          </li>
        ))}
      </ol>
    </>
  );
}

/** The values over the frames: chances of two players, else expected places. */
export function curve({ film, digest }: Pick<Showing, 'film' | 'digest'>, { steps, shares }: Evaluation): ChartData {
  const players = film.header.players.slice(0, MOST_LINES);
  const value = (share: number) => (film.header.players.length === 2 ? share : 1 + (1 - share) * (film.header.players.length - 1));
  return {
    x: steps.map((step) => digest.indexOf(step)),
    series: players.map(({ name }, player) => ({ player, name, values: shares.map((row) => value(row[player] ?? 0)) })),
  };
}

function inWords({ film }: Showing, { turns }: Evaluation): string {
  return turns.map((turn) => `After step ${turn.step}: ${nameOf(film.header, turn.player)} ${turn.words}`).join('. ') || 'No single step turned this match.';
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function place(value: number): string {
  return String(Math.round(value * 10) / 10);
}
