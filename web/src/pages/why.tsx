/** Why did my bot lose? Every message with the server's verdict and the time, beside the board at that step. */
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { askText, RestError } from '../api/rest';
import type { MatchInFull } from '../api/types';
import { useRest } from '../api/use';
import { BotLink, GameLink, matchPath } from '../parts/links';
import { Problem } from '../parts/problem';
import { TokenForm, useToken } from '../parts/token';
import { isFault, readFlight, telling, type Flight, type FlightLine } from '../replay/flight';
import { query, type Params } from '../router';
import { EvaluationPart, useEvaluation } from './evaluation';
import { linksOf } from '../viewer/links';
import type { Showing } from '../viewer/showing';
import { MatchViewer } from '../viewer/viewer';
import { useSource, wantedStep } from './match';

export default function WhyPage({ params }: { params: Params }) {
  const [id, seat] = [params['id'] ?? '', Number(params['seat'] ?? NaN)];
  const reading = useRest<MatchInFull>(`/matches/${encodeURIComponent(id)}`);
  const match = reading.value;
  useEffect(() => void (document.title = 'Why? · Botdrome'), []);
  if (!match) return reading.error ? <Problem words={reading.error} retry={reading.again} /> : <p class="quiet" role="status">Loading …</p>;
  const bot = match.players[seat];
  if (bot === undefined) return <Problem words={`This match has the seats 0 to ${match.players.length - 1}, and no seat ${params['seat']}.`} />;
  return (
    <>
      <h1>Why did <bdi>{bot}</bdi> {match.result?.victor === bot ? 'win' : 'lose'}?</h1>
      <p class="quiet"><GameLink game={match.game} /> · {match.players.map((name, at) => [at ? ' – ' : '', <BotLink key={at} name={name} game={match.game} />])} · <a href={matchPath(id)}>The match</a></p>
      <Opened match={match} seat={seat} bot={bot} />
    </>
  );
}

function Opened({ match, seat, bot }: { match: MatchInFull; seat: number; bot: string }) {
  const [token, setToken] = useToken(bot);
  const [flight, setFlight] = useState<Flight | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    if (!token) return;
    const control = new AbortController();
    askText(`/matches/${encodeURIComponent(match.id)}/seats/${seat}/log`, { token, signal: control.signal }).then(
      (text) => (setFlight(readFlight(text)), setError(null)),
      (problem: Error) => {
        if (control.signal.aborted) return;
        setError(problem.message);
        if (problem instanceof RestError && (problem.status === 401 || problem.status === 403)) setToken('');
      },
    );
    return () => control.abort();
  }, [token, match.id, seat]);
  const evaluating = useEvaluation(match.id);
  const under = (showing: Showing) => <EvaluationPart showing={showing} evaluating={evaluating} player={seat} />;
  if (flight) return <Shown match={match} seat={seat} flight={flight} under={under} />;
  return (
    <>
      <Verdict match={match} seat={seat} />
      <div class="why">
        <BoardAt match={match.id} step={wantedStep()} at={-1} under={under} />
        <section aria-label="Messages">
          <h2>Messages</h2>
          {error && <div class="problem" role="alert"><p>{error}</p></div>}
          {token && !error ? <p class="quiet" role="status">Loading the flight record …</p> : <TokenForm bot={bot} give={setToken} />}
        </section>
      </div>
    </>
  );
}

type Under = (showing: Showing) => ComponentChildren;

function Shown({ match, seat, flight, under }: { match: MatchInFull; seat: number; flight: Flight; under: Under }) {
  const [chosen, setChosen] = useState(() => lineAt(flight, query.value.get('step')));
  const [step, setStep] = useState<number | null>(null);
  const faults = flight.lines.map((line, at) => ({ line, at })).filter(({ line }) => isFault(line));
  return (
    <>
      <Verdict match={match} seat={seat} flight={flight} />
      {faults.length > 0 && (
        <p class="actions">{faults.slice(-8).map(({ line, at }) => <button key={at} type="button" class={at === chosen ? 'main' : ''} onClick={() => setChosen(at)}>{line.verdict} <span class="quiet-on">at {seconds(line.t)}</span></button>)}</p>
      )}
      <div class="why">
        <BoardAt match={match.id} step={flight.lines[chosen]?.step ?? null} at={chosen} told={setStep} under={under} />
        <Lines flight={flight} chosen={chosen} step={step} choose={setChosen} />
      </div>
    </>
  );
}

/** The last answer at the step in the address, else the most telling line. */
function lineAt(flight: Flight, step: string | null): number {
  const found = step === null ? -1 : flight.lines.findLastIndex((line) => line.dir === 'in' && line.step === Number(step));
  return found < 0 ? telling(flight) : found;
}

/** How it ended, and with its messages how many were at fault. */
function Verdict({ match, seat, flight }: { match: MatchInFull; seat: number; flight?: Flight }) {
  const faults = flight?.lines.filter(isFault).length ?? 0;
  const cause = match.seats[seat]?.cause ?? null;
  const place = match.seats[seat]?.place;
  const headline = match.seats[seat]?.headline;
  const ended = cause === 'complete' || cause === null ? 'The match ended by the rules of the game.' : `The match ended for this bot by: ${cause}.`;
  return (
    <p>
      <strong>{headline ? <><bdi>{match.players[seat]}</bdi> {headline}.</> : ended}</strong> {match.verdict && `What decided it: ${match.verdict}. `}{flight?.reason && `${flight.reason}. `}{place !== null && place !== undefined && `It came in ${place === 1 ? 'first' : `at place ${place}`}. `}
      {flight && (faults === 0 ? 'The server took every answer.' : `The server took exception to ${faults} of its answers.`)}
    </p>
  );
}

/** Start at another line of the record. */
function BoardAt({ match, step, at, told, under }: { match: string; step: number | null; at: number; told?: (step: number | null) => void; under: Under }) {
  const loading = useSource(match).loading.value;
  const links = useMemo(() => linksOf(match, location.origin, true), [match]);
  if (loading.state === 'failed') return <Problem words={loading.words} />;
  if (loading.state === 'loading') return <p class="quiet" role="status">Loading the board …</p>;
  return <div class="why-board"><MatchViewer key={at} film={loading.film} live={null} step={step} links={links} onStep={told} under={under} minimal /></div>;
}

function Lines({ flight, chosen, step, choose }: { flight: Flight; chosen: number; step: number | null; choose: (at: number) => void }) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const line = list.current?.querySelector<HTMLElement>('[aria-current]');
    if (line && list.current) list.current.scrollTop = line.offsetTop - list.current.clientHeight / 3;
  }, [chosen]);
  return (
    <section aria-label="Messages">
      <h2>Messages</h2>
      {flight.lost > 0 && <p class="quiet">The first {flight.lost.toLocaleString()} messages were not kept: the record of a seat has a limit.</p>}
      <ol class="flight" ref={list}>
        {flight.lines.map((line, at) => <li key={at} class={step !== null && line.step === step ? 'here' : ''}><Line line={line} at={at} chosen={at === chosen} choose={choose} /></li>)}
      </ol>
    </section>
  );
}

function Line({ line, at, chosen, choose }: { line: FlightLine; at: number; chosen: boolean; choose: (at: number) => void }) {
  const fault = isFault(line);
  return (
    <button type="button" class={`flight-line ${line.dir} ${fault ? 'fault' : ''}`} aria-current={chosen ? 'true' : undefined} onClick={() => choose(at)}>
      <span class="flight-head">
        <span>{line.dir === 'in' ? 'From the bot' : 'To the bot'}</span> <span class="quiet">{seconds(line.t)}{line.step !== undefined && ` · step ${line.step}`}</span>
        {line.verdict && <strong class={fault ? 'bad' : 'good'}>{line.verdict}</strong>}
        {line.used !== undefined && <span class="quiet">after {line.used} ms</span>}
      </span>
      <code>{line.message || '(nothing)'}</code>
    </button>
  );
}

function seconds(t: number): string {
  return `${(t / 1000).toFixed(2)} s`;
}
