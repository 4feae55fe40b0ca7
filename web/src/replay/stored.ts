/** StoredFilm: the film of a match that is over, or of a match file, as the server writes it (docs/watching.md). */
import type { FilmFrame, FilmHeader as HeaderLine } from '../api/types';
import { applied, type Change } from './change';
import type { Film, FilmHeader, Frame, MatchEvent, View } from './film';

const VERSION = 1;
/** Runs of frames whose views are kept: a viewer steps to and fro among a few of them. */
const MOST_RUNS = 32;

export class StoredFilm implements Film {
  readonly over = true;
  readonly header: FilmHeader;
  readonly #lines: readonly FilmFrame[];
  readonly #orders: readonly (readonly number[])[];
  /** By frame, the last one at or before it that has its whole view. */
  readonly #starts: readonly number[];
  /** The views of each run, up to the last one asked for. The most recently used run comes last. */
  readonly #runs = new Map<number, View[]>();

  constructor(header: HeaderLine, lines: readonly FilmFrame[]) {
    if (header.film !== VERSION) throw new Error(`This page shows films of version ${VERSION}, not ${header.film}.`);
    if (!lines[0]?.view) throw new Error('The film has no beginning.');
    this.header = headerOf(header);
    this.#lines = lines;
    this.#orders = ordersOf(lines);
    this.#starts = startsOf(lines);
  }

  get length(): number {
    return this.#lines.length;
  }

  frame(index: number): Frame {
    const line = this.#lines[index];
    if (!line) throw new RangeError(`There is no frame ${index}: the film has ${this.length}.`);
    const { t, event, thought, headlines } = line;
    return { t, event, view: this.#view(index), order: this.#orders[index] ?? [], thought, headlines };
  }

  event(index: number): MatchEvent | null {
    return this.#lines[index]?.event ?? null;
  }

  #view(index: number): View {
    const start = this.#starts[index] ?? 0;
    const views = this.#run(start);
    for (let next = start + views.length; next <= index; next += 1) views.push(this.#next(next, views.at(-1)));
    return views[index - start]!;
  }

  #next(index: number, before: View | undefined): View {
    const line = this.#lines[index];
    if (line?.view) return line.view;
    return (line?.change ? applied(line.change as Change, before) : before) as View;
  }

  #run(start: number): View[] {
    const views = this.#runs.get(start) ?? [];
    this.#runs.delete(start);
    this.#runs.set(start, views);
    if (this.#runs.size > MOST_RUNS) this.#runs.delete(this.#runs.keys().next().value!);
    return views;
  }
}

/** A film from its lines of JSON. */
export function readFilm(text: string): StoredFilm {
  const [header, ...lines] = text.split('\n').filter(Boolean);
  if (!header) throw new Error('The film is empty.');
  return new StoredFilm(JSON.parse(header) as HeaderLine, lines.map((line) => JSON.parse(line) as FilmFrame));
}

function headerOf({ match, game, players, contest, started, options, terms }: HeaderLine): FilmHeader {
  return { match, game, players, contest, started, options, limit: terms.pace.limit };
}

function ordersOf(lines: readonly FilmFrame[]): number[][] {
  let order: number[] = [];
  return lines.map(({ event }) => (order = event.event === 'began' ? event.order : order));
}

function startsOf(lines: readonly FilmFrame[]): number[] {
  let start = 0;
  return lines.map(({ view }, index) => (start = view ? index : start));
}
