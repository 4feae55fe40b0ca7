/** Waiting for an opponent: with a link for a friend, and a way out. */
import { useEffect, useState } from 'preact/hooks';
import { guestAccount } from '../api/guest';
import type { PlayState, PlayWish } from '../api/player-state';
import { opponentWords, wishPath } from '../api/wish';
import type { Bot, ServerAddress } from '../api/types';
import { useRest } from '../api/use';
import { phoneUrl } from '../parts/bring-a-bot';
import { useCopying } from '../parts/copy-line';
import { QrCode } from '../parts/qr-code';
import { gameTitle } from './rules';

export function Waiting({ wish, state, asked }: { wish: PlayWish; state: PlayState; asked: readonly string[] }) {
  const waited = useSeconds();
  const coming = <bdi>{asked.length ? asked.join(' and ') : opponentWords(wish)}</bdi>;
  return (
    <div class="play-waiting">
      <h1>{gameTitle(wish.game)}</h1>
      <p role="status">{state.phase === 'waiting' ? <>{asked.length ? 'Asked for a rematch:' : 'Waiting for'} {coming} …</> : state.match ? 'Coming back to your seat …' : 'Connecting …'}</p>
      {wish.invite && !asked.length && <Invitation wish={wish} />}
      {wish.opponent && !wish.opponent.startsWith('house:') && <NamedBot name={wish.opponent} />}
      {state.phase === 'waiting' && <p class="quiet">{waited} s. Nothing else to do: the match begins by itself.</p>}
      <p><a class="button" href="/play">Cancel</a></p>
    </div>
  );
}

/** The name may be misspelt, and then no opponent ever comes. */
function NamedBot({ name }: { name: string }) {
  const bot = useRest<Bot>(`/bots/${encodeURIComponent(name)}`);
  if (bot.error) return <p class="problem">No bot is registered under the name <bdi>{name}</bdi>. Perhaps it is misspelt.</p>;
  return <p class="quiet"><bdi>{name}</bdi> is not here yet. The match begins when it connects.</p>;
}

function Invitation({ wish }: { wish: PlayWish }) {
  const server = useRest<ServerAddress>('/server').value;
  const phone = server && phoneUrl(server, location);
  const url = `${phone ?? location.origin}${wishPath(wish)}&from=${encodeURIComponent(guestAccount().name)}`;
  const [copied, copy] = useCopying();
  return (
    <section class="invitation" aria-label="Invitation">
      <div>
        <p>Send this link to {wish.players > 2 ? `${wish.players - 1} friends` : 'your friend'}{server && !phone && ' on this machine, the only one that can open it'}:</p>
        <p class="invitation-link">
          <input readOnly aria-label="Link of the invitation" value={url} onFocus={(event) => event.currentTarget.select()} />
          <button type="button" onClick={() => copy(url)}>{copied ? 'Copied' : 'Copy'}</button>
        </p>
      </div>
      {phone && <QrCode text={url} label="QR code of the invitation" />}
    </section>
  );
}

/** The seconds since this was first shown. */
function useSeconds(): number {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return seconds;
}
