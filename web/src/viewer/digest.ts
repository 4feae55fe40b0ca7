/** Digest: the data that the viewer shows beside the board, collected from each frame of a film once. */
import type { Film, Frame, MatchEvent, View } from '../replay/film';
import type { Cross, Mark, Renderer, Seat } from '../renderers/renderer';

/** A mark, and the frame that it belongs to. */
export interface Placed extends Mark {
  index: number;
}

/** The time that a player took for a move. */
export interface Thought {
  index: number;
  player: number;
  milliseconds: number;
}

export class Digest {
  readonly times: number[] = [];
  readonly events: (MatchEvent | null)[] = [];
  /** The number of steps played, frame by frame. */
  readonly steps: number[] = [];
  /** The start of the current step, frame by frame. */
  readonly opened: number[] = [];
  readonly marks: Placed[] = [];
  readonly thoughts: Thought[] = [];
  /** Player by player; null: this game has no scores before its end. */
  readonly scores: (readonly (number | null)[] | null)[] = [];
  /** The frames with which boards end. */
  readonly ends: number[] = [];
  /** The events of the game by frame, in words. */
  readonly #happened = new Map<number, string[]>();
  /** By frame, the deaths on its board so far; frames between two deaths share a list. */
  readonly #crosses: (readonly Cross[])[] = [];
  #before: Frame | null = null;
  /** The last position of the board, if the match is over, and its frame. */
  #final: { index: number; view: View } | null = null;

  constructor(
    readonly film: Film,
    readonly renderer: Renderer,
  ) {}

  get length(): number {
    return this.events.length;
  }

  /** Read at most `most` frames, and return whether there are more. */
  read(most = Infinity): boolean {
    const end = Math.min(this.film.length, this.length + most);
    while (this.length < end) this.#take(this.film.frame(this.length), this.length);
    return this.length < this.film.length;
  }

  /** The first frame after this number of steps, or the last frame. */
  indexOf(step: number): number {
    let low = 0;
    let high = Math.max(0, this.length - 1);
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.steps[middle] ?? 0) >= step) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The frame with which the board ends that is shown at `index`; null: it has not ended. */
  endOf(index: number): number | null {
    return this.ends.find((end) => end >= index) ?? null;
  }

  /** What happened in a frame, besides its moves. */
  happened(index: number): readonly string[] {
    return this.#happened.get(index) ?? [];
  }

  /** Where seats died, up to a frame, on its board. */
  crosses(index: number): readonly Cross[] {
    return this.#crosses[index] ?? [];
  }

  #take(frame: Frame, index: number): void {
    const { t, event, view } = frame;
    this.times.push(t);
    this.events.push(event);
    this.#count(event);
    this.#time(frame, index);
    const scores = this.renderer.scores?.(view) ?? null;
    this.scores.push(scores && byPlayer(scores, frame.order));
    if (event?.event === 'board ended' || event?.event === 'ended') this.ends.push(index);
    this.#mark(frame, index);
    this.#bury(frame);
    this.#before = frame;
  }

  #count(event: MatchEvent | null): void {
    const played = event?.event === 'played' ? event.step : null;
    if (played !== null && this.steps[0] === UNKNOWN) this.steps.fill(played);
    this.steps.push(played !== null ? played + 1 : (this.steps.at(-1) ?? (event ? 0 : UNKNOWN)));
  }

  #time({ t, event, thought }: Frame, index: number): void {
    const since = this.opened.at(-1) ?? t;
    if (event?.event === 'played') {
      const taken = thought ?? (this.#before ? alone(event.moves, this.#before, t - since) : {});
      for (const [player, milliseconds] of Object.entries(taken)) this.thoughts.push({ index, player: Number(player), milliseconds });
    }
    this.opened.push(event === null || event.event === 'played' || event.event === 'began' ? t : since);
  }

  #mark(frame: Frame, index: number): void {
    const { event, view, order } = frame;
    const named = (player: number) => this.film.header.players[player]?.name ?? `player ${player + 1}`;
    for (const mark of marksOf(event, named)) this.marks.push({ ...mark, index });
    if (!this.#before || !this.renderer.marks || event?.event !== 'played') return;
    const seats: Seat[] = order.map((player) => ({ player, name: named(player) }));
    const marks = this.renderer.marks(view, this.#before.view, seats, this.#finalAt(index));
    for (const mark of marks) this.marks.push({ ...mark, index });
    if (marks.length) this.#happened.set(index, marks.map(({ words }) => words));
  }

  #bury({ event, view }: Frame): void {
    const earlier = event?.event === 'began' ? [] : (this.#crosses.at(-1) ?? []);
    const fallen = (event?.event !== 'began' && this.#before && this.renderer.fallen?.(view, this.#before.view)) || [];
    this.#crosses.push(fallen.length ? [...earlier, ...fallen] : earlier);
  }

  /** The last position of the board of a frame, once the match is over. */
  #finalAt(index: number): View | null {
    if (!this.film.over) return null;
    if (!this.#final || this.#final.index < index) {
      let end = index;
      while (end < this.film.length - 1 && this.film.event(end)?.event !== 'board ended') end += 1;
      this.#final = { index: end, view: this.film.frame(end).view };
    }
    return this.#final.view;
  }
}

/** Steps before a live match was joined are not known until the next one. */
const UNKNOWN = -1;

/** The marks that are the same in all games. */
function marksOf(event: MatchEvent | null, named: (player: number) => string): Mark[] {
  switch (event?.event) {
    case 'out':
      return [{ kind: 'out', words: `${named(event.player)} is out: ${event.cause}`, player: event.player }];
    case 'refused':
      return [{ kind: 'illegal', words: `${named(event.player)}: illegal move`, player: event.player }];
    case 'late':
      return [{ kind: 'late', words: `${named(event.player)}: ${event.by} ms late`, player: event.player }];
    case 'board ended':
      return [{ kind: 'board', words: `Board ${event.board + 1} ends` }];
    case 'ended':
      return [{ kind: 'end', words: 'The match is over' }];
    default:
      return [];
  }
}

/** The time of the player to move. If several move at once, a spectator does not learn the time of each. */
function alone(moves: Record<string, unknown>, before: Frame, time: number): Record<string, number> {
  const movers = Object.keys(moves).length ? Object.keys(moves).map(Number) : toMove(before);
  return movers.length === 1 ? { [movers[0]!]: time } : {};
}

/** The players that are to move. */
export function toMove({ view, order }: Frame): number[] {
  const seats = view['toMove'];
  return Array.isArray(seats) ? seats.flatMap((seat) => order[Number(seat)] ?? []) : [];
}

/** From seat by seat to player by player. */
export function byPlayer(values: readonly number[], order: readonly number[]): (number | null)[] {
  const found: (number | null)[] = order.map(() => null);
  order.forEach((player, seat) => (found[player] = values[seat] ?? null));
  return found;
}

/** The marks of a seek bar with this number of places: of marks at the same place, the most important one. */
export function thinned(marks: readonly Placed[], length: number, places: number): Placed[] {
  const best = new Map<number, Placed>();
  for (const mark of marks) {
    const place = Math.round((mark.index / Math.max(1, length - 1)) * places);
    const there = best.get(place);
    if (!there || WEIGHT[mark.kind] > WEIGHT[there.kind]) best.set(place, mark);
  }
  return [...best.values()].sort((one, other) => one.index - other.index);
}

const WEIGHT: Record<Mark['kind'], number> = { end: 7, out: 6, board: 5, illegal: 4, late: 3, bomb: 2, capture: 1 };
