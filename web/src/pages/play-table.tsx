/** The table of a human player: the board, the players with their clock, and the actions. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { clockWords, outcomeFor, ownPlayer, ownTurn, type PlayState, type PlayWish } from '../api/player-state';
import type { Player } from '../api/player';
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

interface TableProps {
  wish: PlayWish;
  player: Player;
  again: () => void;
}

export function PlayTable({ wish, player, again }: TableProps) {
  const state = player.state.value;
  const film = state.film!;
  const frame = film.frame(film.length - 1);
  const renderer = useRenderer(film.header.game);
  const digest = useMemo(() => renderer && new Digest(film, renderer), [film, renderer]);
  digest?.read();
  const status = useStatus(state, film, frame);
  useEffect(() => void (document.title = `${status} · ${gameTitle(wish.game)}`), [status]);
  if (!renderer || !digest) return <p class="quiet" role="status">Loading the board …</p>;
  return (
    <>
      <header class="match-head">
        <h1>{gameTitle(wish.game)}</h1>
        <p>{wish.pace === 'slow' ? 'Slow pace, unrated' : 'Unrated'}</p>
      </header>
      <div class="viewer play-table">
        {state.result ? <Ending state={state} film={film} again={again} /> : <Bar state={state} status={status} />}
        <div class="viewer-board">
          <Board state={state} film={film} frame={frame} renderer={renderer} player={player} crosses={digest.crosses(film.length - 1)} />
          <p class="play-notice" role="alert">{state.notice}</p>
        </div>
        <div class="viewer-panel">
          <p class="hidden" role="status">{frameInWords(film, film.length - 1, digest)} {status}</p>
          <PlayerList state={state} film={film} frame={frame} renderer={renderer} />
          {!state.result && <Resign resign={() => player.resign()} />}
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

interface BoardAreaProps {
  state: PlayState;
  film: Film;
  frame: Frame;
  renderer: Renderer;
  player: Player;
}

function Board({ state, film, frame, renderer, player, crosses }: BoardAreaProps & { crosses: readonly Cross[] }) {
  const seats = useSeats(film, frame);
  const area = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body || document.activeElement?.id === 'main') area.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus({ preventScroll: true });
  }, []);
  const before = film.length > 1 && frame.event && frame.event.event !== 'began' ? film.frame(film.length - 2).view : null;
  const alone = toMove(frame).length === 1;
  const open = state.phase === 'playing' && !state.lost && !(state.sent && alone);
  return (
    <div class="stage" ref={area}>
      <renderer.Board
        view={frame.view} before={before} event={frame.event} seats={seats} final={state.result ? frame.view : null} crosses={crosses} small={false}
        {...(open && { move: player.move, legal: state.legal })}
      />
    </div>
  );
}

function PlayerList({ state, film, frame, renderer }: Omit<BoardAreaProps, 'player'>) {
  const own = ownPlayer(state);
  const awaited = state.result ? [] : toMove(frame);
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
  return <span class={`play-clock${left < 10_000 ? ' short' : ''}`} role="timer" aria-label="Time left">{clockWords(left)}</span>;
}

function Resign({ resign }: { resign: () => void }) {
  const [asked, setAsked] = useState(false);
  if (!asked) return <p class="play-actions"><button type="button" onClick={() => setAsked(true)}>Resign</button></p>;
  return (
    <p class="play-actions" role="group" aria-label="Resign">
      Really resign?
      <button type="button" class="main" onClick={resign}>Yes, resign</button>
      <button type="button" onClick={() => setAsked(false)}>No, play on</button>
    </p>
  );
}

function Ending({ state, film, again }: { state: PlayState; film: Film; again: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  const own = ownPlayer(state);
  const result = state.result!;
  return (
    <section class="card play-ending" aria-label="Result">
      <h2 ref={heading} tabIndex={-1}>{own === null ? resultInWords(film.header, result) : outcomeFor(result, own)}</h2>
      <p class="play-actions">
        <button type="button" class="main" onClick={again}>Rematch</button>
        <a class="button" href={`/matches/${state.match}`}>Watch the replay</a>
        <a class="button" href="/play">Another game</a>
      </p>
    </section>
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

function PositionInWords({ text }: { text: string }) {
  return (
    <details class="position-text">
      <summary>The position in words</summary>
      <p>{text}</p>
    </details>
  );
}
