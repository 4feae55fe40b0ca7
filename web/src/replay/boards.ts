/** Boards: one board of a match as a film of its own. */
import type { Film, FilmHeader, Frame, MatchEvent } from './film';

/** The frames of one board, from its beginning to its end. Steps and times count from its beginning. */
export class BoardFilm implements Film {
  readonly over = true;
  readonly header: FilmHeader;
  readonly #match: Film;
  readonly #from: number;
  readonly length: number;
  /** The steps of the match before this board. */
  readonly steps: number;

  constructor(match: Film, from: number, to: number, steps: number) {
    this.header = match.header;
    this.#match = match;
    this.#from = from;
    this.length = to - from + 1;
    this.steps = steps;
  }

  frame(index: number): Frame {
    const frame = this.#match.frame(this.#from + index);
    const event = frame.event?.event === 'played' ? { ...frame.event, step: frame.event.step - this.steps } : frame.event;
    return { ...frame, t: frame.t - this.#match.frame(this.#from).t, event };
  }

  event(index: number): MatchEvent | null {
    return this.#match.event(this.#from + index);
  }
}

/** One board of a match; null: the film does not have all of it. */
export function boardOf(match: Film, board: number): BoardFilm | null {
  let [from, steps] = [-1, 0];
  for (let index = 0; index < match.length; index++) {
    const event = match.event(index);
    if (event?.event === 'began' && event.board === board) from = index;
    else if (event?.event === 'board ended' && event.board === board && from >= 0) return new BoardFilm(match, from, index, steps);
    else if (event?.event === 'played' && from < 0) steps = event.step + 1;
  }
  return null;
}
