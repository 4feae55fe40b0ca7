/** One match: live or from its record. */
import { useEffect, useMemo } from 'preact/hooks';
import { ContestLink, GameLink } from '../parts/links';
import { Problem } from '../parts/problem';
import type { Film } from '../replay/film';
import { go, path, query, type Params } from '../router';
import { EvaluationPart, useEvaluation } from './evaluation';
import { linksOf } from '../viewer/links';
import { MatchSource } from '../viewer/match-source';
import { Headline } from '../viewer/result';
import { MatchViewer } from '../viewer/viewer';
import { headingNames } from '../viewer/words';

export default function MatchPage({ params }: { params: Params }) {
  const match = params['id'] ?? '';
  const step = useMemo(wantedStep, [match]);
  const source = useSource(match, step !== null);
  const evaluating = useEvaluation(match);
  const loading = source.loading.value;
  if (loading.state === 'loading' || (loading.state === 'shown' && !evaluating.known)) return <p class="quiet" role="status">Loading the match …</p>;
  if (loading.state === 'failed') return <Missing words={loading.words} missing={loading.missing} />;
  const { film, live } = loading;
  const links = linksOf(match, location.origin, film.over);
  return (
    <>
      <MatchHead film={film} over={live === null || live.connection.value.state === 'over'} why={source.void.value} />
      <MatchViewer film={film} live={live} step={step} links={links} players={source.players.value} onStep={rememberStep} under={(showing) => <EvaluationPart showing={showing} evaluating={evaluating} />} />
    </>
  );
}

/** `whole`: a live match is shown only when it is known from its start. */
export function useSource(match: string, whole = false): MatchSource {
  const source = useMemo(() => new MatchSource(match, whole), [match]);
  useEffect(() => () => source.stop(), [source]);
  return source;
}

/** The `?step=` of the address. */
export function wantedStep(): number | null {
  const step = Number(query.value.get('step') ?? NaN);
  return Number.isInteger(step) && step >= 0 ? step : null;
}

/** Keep the step in the address, so that it can be shared and comes back with the page. */
export function rememberStep(step: number | null): void {
  go(step === null ? path.value : `${path.value}?step=${step}`, true);
}

/** `over`: it has a result. `why`: it is void. */
function MatchHead({ film, over, why }: { film: Film; over: boolean; why: string | null }) {
  const { game, contest, started } = film.header;
  const shown = headingNames(film.header);
  useEffect(() => void (document.title = `${shown.join(' – ')} · Botdrome`), [shown.join()]);
  return (
    <header class="match-head">
      <h1>{shown.map((name, place) => [place ? ' – ' : '', <bdi key={place}>{name}</bdi>])}</h1>
      <p>
        <GameLink game={game} />
        {contest !== null && <> · <ContestLink game={game} name={contest} /></>}
        {started !== null && <> · {new Date(started).toLocaleString()}</>}
      </p>
      {over && <Headline film={film} />}
      {why !== null && <p class="quiet">Void, so it counts for no rating: {why}.</p>}
    </header>
  );
}

export function Missing({ words, missing }: { words: string; missing: boolean }) {
  return (
    <>
      <Problem words={words} {...(missing ? {} : { retry: () => location.reload() })} />
      {missing && <p>Perhaps the link is incomplete. <a href="/matches">All matches</a> are in the list; a match file can be <a href="/open">opened here</a>.</p>}
    </>
  );
}
