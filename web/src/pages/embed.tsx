/** A match within another site: the board and its controls. */
import { useEffect, useMemo } from 'preact/hooks';
import type { Params } from '../router';
import { linksOf } from '../viewer/links';
import { MatchViewer } from '../viewer/viewer';
import { headingNames } from '../viewer/words';
import { Missing, useSource, wantedStep } from './match';

export default function EmbedPage({ params }: { params: Params }) {
  const match = params['id'] ?? '';
  const source = useSource(match, wantedStep() !== null);
  const step = useMemo(wantedStep, [match]);
  const loading = source.loading.value;
  const links = linksOf(match, location.origin, false);
  const names = loading.state === 'shown' ? headingNames(loading.film.header).join(' – ') : 'A match';
  useEffect(() => void (document.title = `${names} · Botdrome`), [names]);
  return (
    <div class="embed">
      <h1 class="hidden">A match on Botdrome</h1>
      {loading.state === 'loading' && <p class="quiet" role="status">Loading the match …</p>}
      {loading.state === 'failed' && <Missing words={loading.words} missing={loading.missing} />}
      {loading.state === 'shown' && <MatchViewer film={loading.film} live={loading.live} step={step} links={links} minimal />}
      <p class="embed-foot">
        {loading.state === 'shown' && <bdi>{names}</bdi>}
        <a href={`/matches/${encodeURIComponent(match)}`} target="_blank" rel="noopener">Open on Botdrome</a>
      </p>
    </div>
  );
}
