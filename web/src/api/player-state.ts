/** PlayState: the state of a match as its human player sees it, updated by each message. Pure. */
import type { BoardResult, Film, MatchEvent, Result } from '../replay/film';
import { headerOf, LiveFilm, type News, type Snapshot } from '../viewer/live-film';

export type PaceName = 'slow' | 'stepped';

/** The game, opponent and options that a person has chosen. */
export interface PlayWish {
  game: string;
  pace: PaceName;
  players: number;
  options: Record<string, unknown>;
  /** A house bot (`house:NAME`) or a bot by its name. */
  opponent: string | null;
  /** The word shared by players that want to meet only each other. */
  invite: string | null;
}

/** The name and the secret that this browser keeps. */
export interface GuestAccount {
  name: string;
  secret: string;
}

/** The server's messages to a player (docs/bots-over-websocket.md). */
export type PlayMessage =
  | { authentication: 'OK' }
  | { authentication: 'failed'; why?: string }
  | { error: string }
  | { pong: unknown }
  | (Snapshot & Turn)
  | (News & Turn);

interface Turn {
  timeLeft?: number | null;
  legal?: unknown[];
}

/** `name`: the name cannot be used. `elsewhere`: another window goes on. `gone`: the seat is no longer there. `taken`: it still is. `declined`: nobody wants to play. */
export type FailureKind = 'name' | 'elsewhere' | 'gone' | 'taken' | 'declined' | 'other';

export interface Failure {
  kind: FailureKind;
  words: string;
}

export interface PlayState {
  phase: 'connecting' | 'waiting' | 'playing' | 'over' | 'failed';
  /** The connection is lost: what is known about it, and the milliseconds until the next attempt. */
  lost: { words: string; delay: number } | null;
  match: string | null;
  /** It grows; `version` changes with it. */
  film: LiveFilm | null;
  version: number;
  /** The frame with which a board ended that stays in sight, once the next has begun, until the person goes on; null: the newest frame is shown. */
  held: number | null;
  legal: readonly unknown[] | undefined;
  /** The deadline of this step, by the clock of this page; null: there is no limit, or no player is to move. */
  ends: number | null;
  /** A move was sent, and nothing has come back yet. */
  sent: boolean;
  /** A notice for the player: a refused move, or a player that left. */
  notice: string;
  result: Result | null;
  failure: Failure | null;
}

const SEAT_GONE = 'The match is over, or your seat was given up because you were gone for too long.';

export const START: PlayState = {
  phase: 'connecting', lost: null, match: null, film: null, version: 0, held: null, legal: undefined, ends: null, sent: false, notice: '',
  result: null, failure: null,
};

/** The first message of a connection. `match`: come back to this match. */
export function loginOf(wish: PlayWish, guest: GuestAccount, match: string | null): Record<string, unknown> {
  const login = {
    gameType: wish.game.toUpperCase().replaceAll('-', '_'),
    name: guest.name, guest: true, secret: guest.secret, pace: wish.pace, players: wish.players, options: wish.options,
    features: ['frames'],
  };
  if (match !== null) return { ...login, match };
  return { ...login, ...(wish.opponent && { opponent: wish.opponent }), ...(wish.invite && { invite: wish.invite }) };
}

/** The state after a message; `now` by the clock of this page. */
export function heard(state: PlayState, message: PlayMessage, now: number): PlayState {
  if ('authentication' in message) {
    if (message.authentication === 'OK') return { ...state, phase: state.match === null ? 'waiting' : state.phase, lost: null };
    return failed(state, { kind: 'name', words: sentence(message.why ?? 'The server refuses the login; perhaps it does not have this game.') });
  }
  if ('error' in message) return complained(state, message.error);
  if ('pong' in message) return state;
  return told(state, message, now);
}

/** An error ends the connection, except where the server only says what a message should look like. */
function complained(state: PlayState, words: string): PlayState {
  if (words.startsWith('send ')) return { ...state, notice: sentence(words), sent: false };
  const kind = kindOf(words);
  return failed(state, { kind, words: kind === 'gone' ? SEAT_GONE : sentence(words) });
}

function failed(state: PlayState, failure: Failure): PlayState {
  return { ...state, phase: 'failed', lost: null, failure, legal: undefined, ends: null, sent: false };
}

function kindOf(words: string): FailureKind {
  if (words.includes('another window')) return 'elsewhere';
  if (words.startsWith('you have no seat')) return 'gone';
  if (words.startsWith('there is no coming back')) return 'taken';
  if (words.startsWith('the other player does not want')) return 'declined';
  return words.includes('choose another name') ? 'name' : 'other';
}

function told(state: PlayState, message: (Snapshot | News) & Turn, now: number): PlayState {
  if ('snapshot' in message) return joined(state, message, now);
  const { film } = state;
  if (!film) return state;
  const { event } = message;
  const mine = { ends: message.timeLeft == null ? null : now + message.timeLeft, legal: message.legal, sent: false };
  if (event.event === 'refused') return { ...state, ...mine, notice: `That move is not possible: ${event.why}.` };
  if (event.event === 'late') return { ...state, ...mine, notice: 'Your move came too late.' };
  film.add(message, now);
  const held = event.event === 'began' ? endOfBoard(film, event.board - 1) : event.event === 'ended' ? null : state.held;
  const next: PlayState = { ...state, ...mine, version: state.version + 1, held, notice: noticeOf(event, film, state.notice) };
  return event.event === 'ended' ? { ...next, phase: 'over', result: event.result, legal: undefined, ends: null } : next;
}

/** The frame with which a board ended; null: it is not here. */
function endOfBoard(film: Film, board: number): number | null {
  for (let index = film.length - 1; index >= 0; index--) {
    const event = film.event(index);
    if (event?.event === 'board ended' && event.board === board) return index;
  }
  return null;
}

function joined(state: PlayState, message: Snapshot, now: number): PlayState {
  const again = state.film && state.match === message.match;
  const film = again ? state.film : new LiveFilm(headerOf(message));
  film!.add(message, now);
  return { ...state, phase: 'playing', lost: null, match: message.match, film, version: state.version + 1, held: null, sent: false };
}

/** A notice stays until something else is played. */
function noticeOf(event: MatchEvent, film: LiveFilm, before: string): string {
  if (event.event === 'played' || event.event === 'began' || event.event === 'ended') return '';
  if (event.event !== 'left' && event.event !== 'returned') return before;
  const { view, order } = film.frame(film.length - 1);
  if (order[Number(view['you'])] === event.player) return '';
  const name = film.header.players[event.player]?.name ?? `player ${event.player + 1}`;
  return event.event === 'left' ? `${name} has lost the connection, and may come back within 60 seconds.` : `${name} is back.`;
}

/** The words as a sentence, with a capital and a full stop. */
export function sentence(words: string): string {
  const text = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** The number of the player that this page plays for; null before the match. */
export function ownPlayer({ film }: PlayState): number | null {
  if (!film?.length) return null;
  const { view, order } = film.frame(film.length - 1);
  return order[Number(view['you'])] ?? null;
}

/** Whether the person is to move. */
export function ownTurn({ film, phase }: PlayState): boolean {
  if (phase !== 'playing' || !film?.length) return false;
  const { toMove, you } = film.frame(film.length - 1).view;
  return Array.isArray(toMove) && toMove.includes(you);
}

/** The boards that each player has won, a draw counting half; null: none has ended, or the match has but one. */
export function boardsWon(film: Film): number[] | null {
  const won = film.header.players.map(() => 0);
  let boards = 0;
  for (let index = 0; index < film.length; index++) {
    const event = film.event(index);
    if (event?.event === 'board ended') {
      boards += 1;
      const first = event.result.places.flatMap((place, player) => (place === 1 ? [player] : []));
      for (const player of first) won[player]! += 1 / first.length;
    }
  }
  return boards === 0 || (film.over && boards === 1) ? null : won;
}

/** The result of a match or a board from the side of a player. */
export function outcomeFor(result: BoardResult, player: number): string {
  if (result.causes.includes('aborted')) return 'The match was aborted.';
  const place = result.places[player];
  if (place !== 1) return result.places.length === 2 ? 'You lose.' : `You come in at place ${place} of ${result.places.length}.`;
  return result.places.filter((one) => one === 1).length > 1 ? 'A draw.' : 'You win.';
}

/** The clock: 4:05, or 0:09.3 near the end. */
export function clockWords(milliseconds: number): string {
  const left = Math.max(0, milliseconds);
  const minutes = Math.floor(left / 60_000);
  const seconds = (left % 60_000) / 1000;
  const shown = left < 10_000 ? (Math.floor(seconds * 10) / 10).toFixed(1) : String(Math.floor(seconds));
  return `${minutes}:${seconds < 10 ? '0' : ''}${shown}`;
}
