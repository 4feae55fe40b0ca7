/** A match within another site: the board and its controls. */
import { useMemo } from 'preact/hooks';
import type { Params } from '../router';
import { linksOf } from '../viewer/links';
import { MatchViewer } from '../viewer/viewer';
import { Missing, useSource, wantedStep } from './match';

export default function EmbedPage({ params }: { params: Params }) {
  const match = params['id'] ?? '';
  const source = useSource(match);
  const step = useMemo(wantedStep, [match]);
  const loading = source.loading.value;
  const links = linksOf(match, location.origin, false);
  return (
    <div class="embed">
      <h1 class="hidden">A match on Botdrome</h1>
      {loading.state === 'loading' && <p class="quiet" role="status">Loading the match …</p>}
      {loading.state === 'failed' && <Missing words={loading.words} missing={loading.missing} />}
      {loading.state === 'shown' && <MatchViewer film={loading.film} live={loading.live} step={step} links={links} minimal />}
      <p class="embed-foot">
        {loading.state === 'shown' && <span>{loading.film.header.players.map(({ name }) => name).slice(0, 4).join(' – ')}</span>}
        <a href={`/matches/${encodeURIComponent(match)}`} target="_blank" rel="noopener">Open on Botdrome</a>
      </p>
    </div>
  );
}
