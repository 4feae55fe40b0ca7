/** Film: a match as a list of frames. The viewer shows nothing else, whether the match is live, stored or in a file. */
import type { BoardResult, FilmFrame, FilmPlayer } from '../api/types';

export type { BoardResult, FilmPlayer, Result } from '../api/types';

/** The public view of a position; each game has its own keys. */
export type View = Record<string, unknown>;
/** Why it ended for a player. */
export type Cause = BoardResult['causes'][number];
/** An event. Players are indexes in the list of players of the match. */
export type MatchEvent = FilmFrame['event'];

export interface Frame {
  /** Milliseconds since the match began. */
  t: number;
  /** null: a snapshot, from which on a live match is seen. */
  event: MatchEvent | null;
  view: View;
  /** The players by their seats on this board. */
  order: readonly number[];
  /** Milliseconds that players took for the moves of this step, where that is known. */
  thought?: Readonly<Record<string, number>> | undefined;
  /** In the last frame of a stored match: the outcome for each player, in one line. */
  headlines?: readonly string[] | undefined;
}

export interface FilmHeader {
  /** Its id on the server; null: the film was made from a file. */
  match: string | null;
  game: string;
  players: FilmPlayer[];
  contest: string | null;
  /** Milliseconds since 1970; null: that is not known. */
  started: number | null;
  options: Record<string, unknown>;
  /** Milliseconds for a move; null: there is no limit. */
  limit: number | null;
}

/** The frames so far; a live match adds more. */
export interface Film {
  readonly header: FilmHeader;
  readonly length: number;
  readonly over: boolean;
  /** 0 to length - 1. */
  frame(index: number): Frame;
  /** The event of a frame, without its view. */
  event(index: number): MatchEvent | null;
}
