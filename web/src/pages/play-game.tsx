/** One game of a human player, from the search for an opponent to the rematch. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { guestAccount, keepName } from '../api/guest';
import { browser, Player, playUrl } from '../api/player';
import type { Failure, PlayState, PlayWish } from '../api/player-state';
import { opponentWords, wishOf, wishPath } from '../api/wish';
import { go, query, type Params } from '../router';
import { ready } from './play';
import { NameField } from './play-name';
import { PlayTable } from './play-table';
import { Waiting } from './play-waiting';
import { gameTitle } from './rules';

export default function PlayGamePage({ params }: { params: Params }) {
  const wish = useMemo(() => wishOf(params['game'] ?? '', query.value), []);
  const [player, setPlayer] = useState<Player | null>(null);
  const start = (match: string | null = null) => setPlayer(new Player(wish, guestAccount(), match, browser(playUrl())));
  useEffect(() => {
    const match = query.value.get('match');
    if (match || ready.value) start(match);
    ready.value = false;
    document.title = `${gameTitle(wish.game)} · Botdrome`;
  }, []);
  useEffect(() => {
    if (!player) return undefined;
    addEventListener('online', player.now);
    return () => {
      removeEventListener('online', player.now);
      player.stop();
    };
  }, [player]);
  if (!player) return <Start wish={wish} start={() => start()} />;
  return <Playing wish={wish} player={player} again={() => start()} />;
}

/** For users that open an invitation link. */
function Start({ wish, start, problem }: { wish: PlayWish; start: () => void; problem?: string }) {
  const [name, setName] = useState(guestAccount().name);
  const submit = (event: Event) => {
    event.preventDefault();
    keepName(name.trim());
    start();
  };
  return (
    <form class="play-form play-start" onSubmit={submit}>
      <h1>{gameTitle(wish.game)}</h1>
      <p>{wish.invite ? 'You are invited to a match. It begins when all players are here.' : <>A match against <bdi>{opponentWords(wish)}</bdi>.</>}</p>
      {problem && <p class="problem" role="alert">{problem}</p>}
      <NameField name={name} setName={setName} />
      <p><button type="submit" class="main big">Play</button> <a class="button" href="/play">Choose something else</a></p>
      <p class="quiet">You play as a guest, and nothing is rated.</p>
    </form>
  );
}

function Playing({ wish, player, again }: { wish: PlayWish; player: Player; again: () => void }) {
  const state = player.state.value;
  useMatchInAddress(wish, state);
  if (state.failure) return <Failed wish={wish} state={state} failure={state.failure} player={player} again={again} />;
  return (
    <>
      {state.lost && <Lost lost={state.lost} seated={state.match !== null} now={player.now} />}
      {state.film ? <PlayTable wish={wish} player={player} again={again} /> : <Waiting wish={wish} state={state} />}
    </>
  );
}

/** Reloading the page returns to the match until it is over. */
function useMatchInAddress(wish: PlayWish, { match, phase }: PlayState): void {
  const running = phase === 'over' || phase === 'failed' ? null : match;
  useEffect(() => go(wishPath(wish, running), true), [running]);
}

function Lost({ lost, seated, now }: { lost: { words: string; delay: number }; seated: boolean; now: () => void }) {
  return (
    <div class="play-lost" role="status">
      <p>{lost.words} {seated && 'Your seat is kept for a while. '}The page connects again in {Math.max(1, Math.round(lost.delay / 1000))} s.</p>
      <button type="button" onClick={now}>Connect now</button>
    </div>
  );
}

interface FailedProps {
  wish: PlayWish;
  state: PlayState;
  failure: Failure;
  player: Player;
  again: () => void;
}

function Failed({ wish, state, failure, player, again }: FailedProps) {
  if (failure.kind === 'name' && state.match === null) return <Start wish={wish} start={again} problem={failure.words} />;
  return (
    <div class="problem" role="alert">
      <h1>{gameTitle(wish.game)}</h1>
      <p>{failure.words}</p>
      <p class="play-actions">
        {failure.kind === 'elsewhere' && <button type="button" class="main" onClick={player.now}>Continue here</button>}
        {(failure.kind === 'gone' || failure.kind === 'taken') && <a class="button main" href={`/matches/${state.match}`}>Watch the match</a>}
        <button type="button" class={failure.kind === 'other' ? 'main' : ''} onClick={again}>{failure.kind === 'other' ? 'Try again' : 'New match'}</button>
        <a class="button" href="/play">Choose something else</a>
      </p>
    </div>
  );
}
