/** How a live match is seen: connected, lost, behind, over. */
import type { Connection } from './stream';
import type { Playback } from './playback';

export function LiveState({ connection, retry, playback }: { connection: Connection; retry: () => void; playback: Playback }) {
  const following = playback.following.value;
  return (
    <div class="live-state">
      <p role="status" class={`live-badge ${connection.state}`}>{stateInWords(connection)}</p>
      {connection.state === 'lost' && connection.delay >= 1000 && <button type="button" onClick={retry}>Try now</button>}
      {!following && connection.state !== 'over' && (
        <button type="button" class="main" onClick={() => playback.toLive()}>Back to live</button>
      )}
    </div>
  );
}

function stateInWords(connection: Connection): string {
  switch (connection.state) {
    case 'connecting':
      return 'Connecting …';
    case 'live':
      return 'Live';
    case 'lost':
      return `${connection.words} ${connection.delay < 1000 ? 'Trying again …' : `Trying again in ${Math.round(connection.delay / 1000)} s.`}`;
    case 'over':
      return 'The match is over';
    case 'refused':
      return connection.words;
  }
}
