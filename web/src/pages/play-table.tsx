/** The table of a human player: the board, the players with their clock, and the actions. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { guestAccount } from '../api/guest';
import { ask } from '../api/rest';
import { boardsWon, clockWords, outcomeFor, ownPlayer, ownTurn, type PlayState, type PlayWish } from '../api/player-state';
import type { Player } from '../api/player';
import type { Invitation, RematchInvite } from '../api/types';
import { useRest } from '../api/use';
import { invitePath, rematchPath } from '../api/wish';
import { LOW_TIME, SoundSwitch, useLowTime, useSounds } from '../parts/sounds';
import { colourOf, signOf, type Cross, type Renderer } from '../renderers/renderer';
import { useRenderer } from '../renderers/use';
import type { Film, Frame } from '../replay/film';
import { Digest, toMove } from '../viewer/digest';
import { useSeats } from '../viewer/stage';
import { frameInWords, nameOf, number, resultInWords } from '../viewer/words';
import { gameTitle } from './rules';

const RECENT = 6;
/** Milliseconds after which a player is told that the server is slow. */
const SLOW_ANSWER = 4000;
/** Milliseconds between two looks whether the others ask for a rematch. */
const LOOK = 2000;

/** Another match with the same choices; `wish`: with the people of this one, who are asked. */
export type Again = (wish?: PlayWish, asked?: readonly string[]) => void;

interface TableProps {
  wish: PlayWish;
  player: Player;
  again: Again;
}

export function PlayTable({ wish, player, again }: TableProps) {
  const state = player.state.value;
  const film = state.film!;
  const shown = state.held ?? film.length - 1;
  const frame = film.frame(shown);
  const renderer = useRenderer(film.header.game);
  const digest = useMemo(() => renderer && new Digest(film, renderer), [film, renderer]);
  digest?.read();
  const status = useStatus(state, film, film.frame(film.length - 1));
  const boards = useMemo(() => boardsWon(film), [film, film.length]);
  useSounds(digest);
  useLowTime(state.ends, ownTurn(state) && !state.sent);
  useEffect(() => void (document.title = `${status} · ${gameTitle(wish.game)}`), [status]);
  if (!renderer || !digest) return <p class="quiet" role="status">Loading the board …</p>;
  return (
    <>
      <header class="match-head">
        <h1>{gameTitle(wish.game)}</h1>
        <p>{wish.pace === 'slow' ? 'Slow pace, unrated' : 'Unrated'}</p>
      </header>
      <div class="viewer play-table">
        {state.result ? <Ending wish={wish} state={state} film={film} boards={boards} again={again} /> : state.held !== null ? <Between state={state} film={film} boards={boards} status={status} goOn={player.goOn} /> : <Bar state={state} status={status} />}
        <div class="viewer-board">
          <Board state={state} film={film} shown={shown} renderer={renderer} player={player} crosses={digest.crosses(shown)} />
          <p class="play-notice" role="alert">{state.notice}</p>
        </div>
        <div class="viewer-panel">
          <p class="hidden" role="status">{frameInWords(film, film.length - 1, digest)} {status}</p>
          <PlayerList state={state} film={film} frame={frame} renderer={renderer} boards={boards} />
          <div class="play-actions">{!state.result && <Resign resign={() => player.resign()} />}<SoundSwitch /></div>
          <Recent film={film} digest={digest} />
          {renderer.help && <p class="quiet">{renderer.help}</p>}
        </div>
        <PositionInWords text={renderer.describe(frame.view, frame.order.map((one) => ({ player: one, name: nameOf(film.header, one) })))} />
      </div>
    </>
  );
}

/** Whose turn it is, and the time that is left: always in sight. */
function Bar({ state, status }: { state: PlayState; status: string }) {
  return (
    <div class={ownTurn(state) && !state.sent ? 'play-status yours' : 'play-status'}>
      <span>{status}</span>
      {state.ends !== null && <Clock ends={state.ends} />}
    </div>
  );
}

/** Whose turn it is, in one sentence. */
function useStatus(state: PlayState, film: Film, frame: Frame): string {
  const slow = useDelayed(state.sent, SLOW_ANSWER);
  const own = ownPlayer(state);
  if (state.result) return own === null ? 'The match is over.' : outcomeFor(state.result, own);
  const others = toMove(frame).filter((one) => one !== own).map((one) => nameOf(film.header, one));
  if (state.sent && others.length) return 'Your move is sent. Waiting for the others.';
  if (state.sent) return slow ? 'Your move is on its way; the server has not answered yet.' : 'Your move is sent.';
  if (ownTurn(state)) return 'Your turn';
  if (others.length === 0) return 'The game goes on';
  return others.length === 1 ? `${others[0]} is to move` : `${others.length} others are to move`;
}

/** Whether a condition has been true for this number of milliseconds. */
function useDelayed(wanted: boolean, milliseconds: number): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    if (!wanted) return undefined;
    const timer = setTimeout(() => setLate(true), milliseconds);
    return () => clearTimeout(timer);
  }, [wanted]);
  return late && wanted;
}

interface BoardProps {
  state: PlayState;
  film: Film;
  shown: number;
  renderer: Renderer;
  player: Player;
  crosses: readonly Cross[];
}

/** A board that is over stays until a click; the second click of a double one may be meant for the last move. */
function Board({ state, film, shown, renderer, player, crosses }: BoardProps) {
  const frame = film.frame(shown);
  const seats = useSeats(film, frame);
  const area = useRef<HTMLDivElement>(null);
  const before = shown > 0 && frame.event && frame.event.event !== 'began' ? film.frame(shown - 1).view : null;
  const alone = toMove(frame).length === 1;
  const held = state.held !== null;
  useEffect(() => {
    if (document.activeElement === document.body || document.activeElement?.id === 'main') area.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus({ preventScroll: true });
  }, [held]);
  const open = state.phase === 'playing' && !state.lost && !held && !(state.sent && alone);
  const goOn = ({ detail, target }: MouseEvent) => detail > 1 || (target as Element).closest('button, input, select, label') || player.goOn();
  return (
    <div class="stage" ref={area} onClick={held ? goOn : undefined}>
      <renderer.Board
        view={frame.view} before={before} event={frame.event} seats={seats} final={state.result || held ? frame.view : null} crosses={crosses} small={false}
        {...(open && { move: player.move, legal: state.legal })}
      />
    </div>
  );
}

interface PlayerListProps {
  state: PlayState;
  film: Film;
  frame: Frame;
  renderer: Renderer;
  boards: readonly number[] | null;
}

function PlayerList({ state, film, frame, renderer, boards }: PlayerListProps) {
  const own = ownPlayer(state);
  const awaited = state.result ? [] : toMove(film.frame(film.length - 1));
  const bySeat = renderer.scores?.(frame.view) ?? null;
  const { players } = film.header;
  return (
    <ol class={`players${players.length > 6 ? ' many' : ''}`} aria-label="Players">
      {players.map(({ name }, player) => (
        <li key={player} class={awaited.includes(player) ? 'player awaited' : 'player'} style={{ '--seat': colourOf(player) }}>
          <span class="sign" aria-hidden="true">{signOf(player)}</span>
          <div class="player-who">
            <bdi class="player-name">{name}</bdi>
            <span class="player-facts">{player === own ? 'you' : name.startsWith('house:') ? 'house bot' : ''}</span>
          </div>
          <div class="player-state">
            {boards && <span class="player-boards">{number(boards[player] ?? 0)} {boards[player] === 1 ? 'board' : 'boards'}</span>}
            {bySeat && <span class="player-score">{number(bySeat[frame.order.indexOf(player)] ?? 0)}</span>}
            {awaited.includes(player) && <span class="clock">to move</span>}
          </div>
        </li>
      ))}
    </ol>
  );
}

/** The time that is left for the step. */
function Clock({ ends }: { ends: number }) {
  const [now, setNow] = useState(performance.now());
  useEffect(() => {
    setNow(performance.now());
    const timer = setInterval(() => setNow(performance.now()), 100);
    return () => clearInterval(timer);
  }, [ends]);
  const left = ends - now;
  return <span class={`play-clock${left < LOW_TIME ? ' short' : ''}`} role="timer" aria-label="Time left">{clockWords(left)}</span>;
}

function Resign({ resign }: { resign: () => void }) {
  const [asked, setAsked] = useState(false);
  if (!asked) return <button type="button" onClick={() => setAsked(true)}>Resign</button>;
  return (
    <span class="play-actions" role="group" aria-label="Resign">
      Really resign?
      <button type="button" class="main" onClick={resign}>Yes, resign</button>
      <button type="button" onClick={() => setAsked(false)}>No, play on</button>
    </span>
  );
}

/** A board is over, and another one has begun. */
function Between({ state, film, boards, status, goOn }: { state: PlayState; film: Film; boards: readonly number[] | null; status: string; goOn: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus({ preventScroll: true }), []);
  const event = film.event(state.held ?? 0);
  if (event?.event !== 'board ended') return null;
  return (
    <section class="card play-ending" aria-label="The board is over">
      <h2>Board {event.board + 1}: {outcomeFor(event.result, ownPlayer(state) ?? 0)}</h2>
      <BoardScore state={state} film={film} boards={boards} />
      <p class="play-actions">
        <button ref={button} type="button" class="main" onClick={goOn}>Next board</button>
        <span>{status}</span> {state.ends !== null && <Clock ends={state.ends} />}
      </p>
    </section>
  );
}

function BoardScore({ state, film, boards }: { state: PlayState; film: Film; boards: readonly number[] | null }) {
  const own = ownPlayer(state);
  if (!boards) return null;
  return (
    <p class="board-score">Boards:{' '}
      {film.header.players.map(({ name }, player) => <span key={player}>{player > 0 && ', '}{player === own ? 'you' : <bdi>{name}</bdi>} <strong>{number(boards[player] ?? 0)}</strong></span>)}
    </p>
  );
}

function Ending({ wish, state, film, boards, again }: { wish: PlayWish; state: PlayState; film: Film; boards: readonly number[] | null; again: Again }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  const own = ownPlayer(state);
  const result = state.result!;
  const people = wish.opponent === null ? film.header.players.map(({ name }) => name).filter((name, player) => player !== own && !name.startsWith('house:')) : [];
  return (
    <section class="card play-ending" aria-label="Result">
      <h2 ref={heading} tabIndex={-1}>{own === null ? resultInWords(film.header, result) : outcomeFor(result, own)}</h2>
      <BoardScore state={state} film={film} boards={boards} />
      <div class="play-actions">
        {people.length ? <Rematch before={wish} match={state.match ?? ''} own={own ?? 0} people={people} again={again} /> : <button type="button" class="main" onClick={() => again()}>Rematch</button>}
        <a class="button" href={`/matches/${state.match}`}>Watch the replay</a>
        <a class="button" href="/play">Another game</a>
      </div>
    </section>
  );
}

/** Ask the other people for a rematch, or answer them. */
function Rematch({ before, match, own, people, again }: { before: PlayWish; match: string; own: number; people: readonly string[]; again: Again }) {
  const word = useRest<RematchInvite>(rematchPath(before, match, own), 0, null, guestAccount().secret);
  const wish = { ...before, invite: before.invite ?? word.value?.invite ?? null };
  const { value } = useRest<Invitation>(wish.invite && invitePath(wish), LOOK);
  const [declined, setDeclined] = useState(false);
  const asking = declined ? [] : people.filter((name) => value?.waiting.includes(name));
  const decline = () => {
    setDeclined(true);
    void ask(invitePath(wish), { method: 'DELETE' }).catch(() => undefined);
  };
  if (!asking.length) return <button type="button" class="main" disabled={!wish.invite} onClick={() => again(wish, people)}>Ask {people.length > 1 ? 'the others' : <bdi>{people[0]}</bdi>} for a rematch</button>;
  return (
    <div class="rematch" role="status">
      <strong><bdi>{asking.join(' and ')}</bdi> {asking.length === 1 ? 'asks' : 'ask'} for a rematch.</strong>
      <button type="button" class="main" onClick={() => again(wish, people)}>Play again</button>
      <button type="button" onClick={decline}>No, thanks</button>
    </div>
  );
}

/** The last events, the newest first. */
export function Recent({ film, digest }: { film: Film; digest: Digest }) {
  const lines = useMemo(() => {
    const from = Math.max(0, film.length - RECENT);
    return Array.from({ length: film.length - from }, (_, place) => film.length - 1 - place)
      .filter((index) => film.event(index))
      .map((index) => ({ index, words: frameInWords(film, index, digest) }));
  }, [film, film.length, digest]);
  return (
    <section class="play-recent" aria-label="What happened">
      <ol>{lines.map(({ index, words }) => <li key={index}>{words}</li>)}</ol>
    </section>
  );
}

/** The position, for screen readers and for people that prefer words. */
export function PositionInWords({ text }: { text: string }) {
  return (
    <details class="position-text">
      <summary>The position in words</summary>
      <p>{text}</p>
    </details>
  );
}
