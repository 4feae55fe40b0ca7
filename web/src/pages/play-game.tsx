/** One game of a human player, from the search for an opponent to the rematch. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { guestAccount, keepName } from '../api/guest';
import { browser, Player, playUrl } from '../api/player';
import type { Failure, PlayState, PlayWish } from '../api/player-state';
import type { Invitation } from '../api/types';
import { useRest } from '../api/use';
import { invitePath, opponentWords, wishOf, wishPath } from '../api/wish';
import { go, query, type Params } from '../router';
import { ready } from './play';
import { NameField } from './play-name';
import { PlayTable, type Again } from './play-table';
import { Waiting } from './play-waiting';
import { gameTitle } from './rules';

/** Milliseconds between two looks who waits. */
const LOOK = 3000;

interface Begun {
  player: Player;
  wish: PlayWish;
  /** The people of the last match who are asked for another one. */
  asked: readonly string[];
}

export default function PlayGamePage({ params }: { params: Params }) {
  const first = useMemo(() => wishOf(params['game'] ?? '', query.value), []);
  const [begun, setBegun] = useState<Begun | null>(null);
  const wish = begun?.wish ?? first;
  const player = begun?.player;
  const start = (match: string | null, wanted = wish, asked: readonly string[] = []) =>
    setBegun({ wish: wanted, asked, player: new Player(wanted, guestAccount(), match, browser(playUrl())) });
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
  if (!begun) return <Start wish={wish} start={() => start(null)} />;
  return <Playing {...begun} again={(wanted, asked) => start(null, wanted, asked)} />;
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
      {wish.invite ? <Invited wish={wish} /> : <p>A match against <bdi>{opponentWords(wish)}</bdi>.</p>}
      {problem && <p class="problem" role="alert">{problem}</p>}
      <NameField name={name} setName={setName} />
      <p><button type="submit" class="main big">Play</button> <a class="button" href="/play">Choose something else</a></p>
      <p class="quiet">You play as a guest, and nothing is rated.</p>
    </form>
  );
}

/** The hosts of an invitation: the players that wait, or else the name in the link. */
function Invited({ wish }: { wish: PlayWish }) {
  const { value } = useRest<Invitation>(invitePath(wish), LOOK);
  const [from] = useState(query.value.get('from'));
  const waiting = value?.waiting ?? [];
  const hosts = waiting.length ? waiting.join(' and ') : from;
  return (
    <p role="status">
      {hosts ? <><strong><bdi>{hosts}</bdi></strong> {waiting.length > 1 ? 'invite' : 'invites'} you to a match.</> : 'You are invited to a match.'}{' '}
      {waiting.length ? (wish.players > 2 ? 'It begins when all players are here.' : 'It begins when you play.') : value && 'Nobody waits there at present; it begins when all players are here.'}
    </p>
  );
}

function Playing({ wish, player, asked, again }: Begun & { again: Again }) {
  const state = player.state.value;
  useMatchInAddress(wish, state);
  if (state.failure) return <Failed wish={wish} state={state} failure={state.failure} player={player} again={again} />;
  return (
    <>
      {state.lost && <Lost lost={state.lost} seated={state.match !== null} now={player.now} />}
      {state.film ? <PlayTable wish={wish} player={player} again={again} /> : <Waiting wish={wish} state={state} asked={asked} />}
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
  again: Again;
}

function Failed({ wish, state, failure, player, again }: FailedProps) {
  if (failure.kind === 'name' && state.match === null) return <Start wish={wish} start={() => again()} problem={failure.words} />;
  return (
    <div class="problem" role="alert">
      <h1>{gameTitle(wish.game)}</h1>
      <p>{failure.words}</p>
      <p class="play-actions">
        {failure.kind === 'elsewhere' && <button type="button" class="main" onClick={player.now}>Continue here</button>}
        {(failure.kind === 'gone' || failure.kind === 'taken') && <a class="button main" href={`/matches/${state.match}`}>Watch the match</a>}
        {failure.kind !== 'declined' && <button type="button" class={failure.kind === 'other' ? 'main' : ''} onClick={() => again()}>{failure.kind === 'other' ? 'Try again' : 'New match'}</button>}
        <a class="button" href="/play">Choose something else</a>
      </p>
    </div>
  );
}
