/** Renderer: how the positions of one game are shown. A game without one is shown by `generic.tsx`.

Movement is a CSS transition that lasts `var(--step-time, 200ms)`. The viewer sets that variable on an element around the board:
to what fits the speed, and to 0s when it jumps.
*/
import type { JSX } from 'preact';
import type { MatchEvent, View } from '../replay/film';

/** One seat of the board: the number of the player (which gives its colour) and its name. */
export interface Seat {
  player: number;
  name: string;
}

export interface BoardProps<V extends View = View> {
  view: V;
  /** The position one frame earlier, for what moved; null: none is known, so nothing is animated. */
  before: V | null;
  event: MatchEvent | null;
  /** By seat. */
  seats: readonly Seat[];
  /** The last position of a match that is over, for what is revealed at the end; null while it runs. */
  final: V | null;
  /** Where seats died on this board. */
  crosses?: readonly Cross[] | undefined;
  /** A board of about 200 pixels: no coordinates, no words. */
  small: boolean;
  /** For a human player: the legal moves, if the game lists them, and the function that makes one. */
  legal?: readonly unknown[] | undefined;
  move?: ((raw: unknown) => void) | undefined;
}

/** Where a seat died. */
export interface Cross {
  seat: number;
  place: readonly number[];
}

/** Something that matters, for the seek bar and the list of events. */
export interface Mark {
  kind: 'capture' | 'bomb' | 'out' | 'illegal' | 'late' | 'board' | 'end';
  words: string;
  /** The number of the player that it is about, for its colour. */
  player?: number;
}

export interface Renderer<V extends View = View> {
  Board(props: BoardProps<V>): JSX.Element | null;
  /** The position in words, for screen readers. */
  describe(view: V, seats: readonly Seat[]): string;
  /** Seat by seat, for the chart of scores; null: this game has none before its end. */
  scores?(view: V): readonly number[] | null;
  /** The important events of the step from `before` to `view`, besides those of all games. `final`: the last position of the board, if it is over. */
  marks?(view: V, before: V, seats: readonly Seat[], final: V | null): Mark[];
  /** The seats that died between two positions, which need not follow each other. */
  fallen?(view: V, before: V): Cross[];
  /** A move in words, for the list of events; '': the marks of the step say it. */
  moveInWords?(move: unknown, view: V, seats: readonly Seat[]): string;
  /** A step without a public move, in words. */
  silent?(view: V, seats: readonly Seat[]): string;
  /** How to play with mouse, touch and keyboard, in one or two sentences. */
  help?: string;
}

/** The colour of a player, as CSS. */
export function colourOf(player: number): string {
  return `var(--seat-${player % 10})`;
}

/** The letter or digit that goes with the colour, for users that cannot tell the colours apart. */
export function signOf(player: number): string {
  return player < 9 ? String(player + 1) : String.fromCharCode(65 + ((player - 9) % 26));
}

/** The name of a player by its seat. */
export function nameOf(seats: readonly Seat[], seat: number): string {
  return seats[seat]?.name ?? `seat ${seat}`;
}
