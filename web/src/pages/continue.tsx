/** A match that goes on from one of its steps: house bots play it to its end, or a person plays on against them. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ask } from '../api/rest';
import type { ContinuedMatch, MatchInFull } from '../api/types';
import { useRest } from '../api/use';
import { GameLink, matchPath } from '../parts/links';
import { Problem } from '../parts/problem';
import { useRenderer } from '../renderers/use';
import { readFilm } from '../replay/stored';
import type { Film, View } from '../replay/film';
import { query, type Params } from '../router';
import { Digest } from '../viewer/digest';
import { useSeats } from '../viewer/stage';
import { MatchViewer } from '../viewer/viewer';
import { wantedStep } from './match';
import { PositionInWords, Recent } from './play-table';

export default function ContinuePage({ params }: { params: Params }) {
  const id = params['id'] ?? '';
  const reading = useRest<MatchInFull>(`/matches/${encodeURIComponent(id)}`);
  const match = reading.value;
  const step = wantedStep() ?? 0;
  const who = query.value.get('as');
  useEffect(() => void (document.title = `Continue from step ${step} · Botdrome`), [step]);
  if (!match) return reading.error ? <Problem words={reading.error} retry={reading.again} /> : <p class="quiet" role="status">Loading …</p>;
  return (
    <>
      <h1>Continue from step {step}</h1>
      <p class="quiet"><GameLink game={match.game} /> · <a href={`${matchPath(id)}?step=${step}`}>The match as it was played</a></p>
      {who === null ? <Choice match={match} step={step} /> : <Going key={who} match={id} step={step} seat={who === 'house' ? null : Number(who)} />}
    </>
  );
}

function Choice({ match, step }: { match: MatchInFull; step: number }) {
  const to = (who: number | string) => `${matchPath(match.id)}/continue?step=${step}&as=${who}`;
  return (
    <>
      <p>What if it had gone on in another way? A house bot takes over each player that you do not play. Nothing is stored, and nobody waits for you.</p>
      <ul class="continue">
        <li><a class="button main" href={to('house')}>Let house bots play on</a></li>
        {match.players.map((name, seat) => <li key={seat}><a class="button" href={to(seat)}>Play on as <bdi>{name}</bdi></a></li>)}
      </ul>
    </>
  );
}

/** The server keeps nothing: each request has all moves of the person so far. */
function Going({ match, step, seat }: { match: string; step: number; seat: number | null }) {
  const [moves, setMoves] = useState<unknown[]>([]);
  const [tried, setTried] = useState<unknown[]>([]);
  const [found, setFound] = useState<{ film: Film; view: View | null } | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    const control = new AbortController();
    ask<ContinuedMatch>(`/matches/${encodeURIComponent(match)}/continuation`, { method: 'POST', body: { step, seat, moves: tried }, signal: control.signal }).then(
      ({ film, view }) => {
        setFound({ film: readFilm(film), view });
        setMoves(tried);
        setError(null);
      },
      (problem: Error) => control.signal.aborted || setError(problem.message),
    );
    return () => control.abort();
  }, [match, step, seat, tried]);
  if (!found) return error !== null ? <Problem words={error} retry={() => setTried([...tried])} /> : <p class="quiet" role="status">The match goes on …</p>;
  if (!found.view) return <MatchViewer film={found.film} step={seat === null ? step : null} />;
  const move = (raw: unknown) => {
    setError(null);
    setTried([...moves, raw]);
  };
  return <Turn film={found.film} view={found.view} notice={error} move={tried === moves || error !== null ? move : null} />;
}

/** `move`: null while house bots move. */
function Turn({ film, view, notice, move }: { film: Film; view: View; notice: string | null; move: ((raw: unknown) => void) | null }) {
  const renderer = useRenderer(film.header.game);
  const frame = useMemo(() => film.frame(film.length - 1), [film]);
  const seats = useSeats(film, frame);
  const digest = useMemo(() => renderer && new Digest(film, renderer), [film, renderer]);
  digest?.read();
  const before = useRef<View | null>(null);
  useEffect(() => void (before.current = view), [view]);
  const { legal } = view as { legal?: unknown[] };
  if (!renderer || !digest) return <p class="quiet" role="status">Loading the board …</p>;
  return (
    <div class="viewer play-table">
      <div class={move ? 'play-status yours' : 'play-status'} role="status">{move ? 'Your turn' : 'House bots move …'}</div>
      <div class="viewer-board">
        <div class="stage"><renderer.Board view={view} before={before.current} event={null} seats={seats} final={null} crosses={digest.crosses(film.length - 1)} small={false} {...(move && { move, legal })} /></div>
        <p class="play-notice" role="alert">{notice}</p>
      </div>
      <div class="viewer-panel">
        <Recent film={film} digest={digest} />
        {renderer.help && <p class="quiet">{renderer.help}</p>}
      </div>
      <PositionInWords text={renderer.describe(view, seats)} />
    </div>
  );
}
