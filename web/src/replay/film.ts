/** Film: a match as a list of frames. The viewer shows nothing else, whether the match is live, stored or in a file. */

/** What the public may know of a position; each game has keys of its own. */
export type View = Record<string, unknown>;
export type Cause =
  | 'complete' | 'illegal moves' | 'timeout' | 'disconnect' | 'crash' | 'flood' | 'unreadable' | 'expelled' | 'aborted';

export interface BoardResult {
  scores: number[];
  places: number[];
  causes: Cause[];
}

export interface Result extends BoardResult {
  boards: BoardResult[];
}

/** What happened. Players are numbers: places in the list of players of the match. */
export type MatchEvent =
  | { event: 'began'; board: number; order: number[] }
  | { event: 'played'; step: number; moves: Record<string, unknown> }
  | { event: 'refused'; player: number; why: string; move?: unknown; strikes: number }
  | { event: 'late'; player: number; by: number }
  | { event: 'out'; player: number; cause: Cause; detail: string }
  | { event: 'left'; player: number }
  | { event: 'returned'; player: number }
  | { event: 'amended'; options: Record<string, unknown> }
  | { event: 'board ended'; board: number; result: BoardResult }
  | { event: 'ended'; result: Result };

export interface Frame {
  /** Milliseconds since the match began. */
  t: number;
  /** null: a snapshot, from which on a live match is seen. */
  event: MatchEvent | null;
  view: View;
  /** The players by their seats on this board. */
  order: readonly number[];
}

export interface FilmPlayer {
  name: string;
  owner?: string | null;
  protocol?: string | null;
  rating?: number | null;
}

export interface FilmHeader {
  match: string;
  game: string;
  players: FilmPlayer[];
  contest: string | null;
  /** Milliseconds since 1970. */
  started: number;
  options: Record<string, unknown>;
  /** Milliseconds for a move; null: there is no limit. */
  limit: number | null;
}

/** Frames that are there, and those that are still to come if the match is live. */
export interface Film {
  readonly header: FilmHeader;
  readonly length: number;
  readonly over: boolean;
  /** 0 to length - 1. */
  frame(index: number): Frame;
}
