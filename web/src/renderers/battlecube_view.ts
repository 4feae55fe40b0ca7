/** The public view of Battlecube, and values derived from it. Pure. */
import type { View } from '../replay/film';
import type { Cross, Mark, Seat } from './renderer';

export type Cell = readonly [number, number, number];

export interface Happening {
  seat: number;
  did?: 'move' | 'bomb' | 'nothing';
  direction?: string;
  x?: number;
  y?: number;
  z?: number;
  lost?: string;
}

export interface CubeView extends View {
  you: number | null;
  toMove: number[];
  edge: number;
  tasks: number;
  tick: number;
  ticks: number;
  players: { seat: number; x: number; y: number; z: number }[];
  bombs: Cell[];
  happened: Happening[];
  lost: { seat: number; tick: number; cause: string | null }[];
}

const CRASHED = 'Player crashed to other player';
const CAUSES: Record<string, string> = {
  'Player moved out of bounds': 'left the cube',
  'Player stepped on a BOMB': 'stood on a bomb',
  [CRASHED]: 'met another bot',
};

/** `met`: the names of those that it met. */
export function causeInWords(cause: string | null | undefined, met: readonly string[] = []): string {
  if (cause === CRASHED && met.length) return `met ${met.join(' and ')}`;
  return cause ? (CAUSES[cause] ?? cause) : 'gave no good answer in time';
}

export function nameAt(seats: readonly Seat[], seat: number): string {
  return seats[seat]?.name ?? `seat ${seat}`;
}

/** Where each seat that lives stands. */
export function cellsOf(view: CubeView): Map<number, Cell> {
  return new Map(view.players.map(({ seat, x, y, z }) => [seat, [x, y, z]]));
}

/** Where each seat that was lost in the last tick was then. */
function lastCells(view: CubeView, before: CubeView | null): Map<number, Cell> {
  const cells = new Map<number, Cell>();
  const stood = before ? cellsOf(before) : new Map<number, Cell>();
  for (const { seat, did, x, y, z, lost } of view.happened) {
    if (did === 'move' && x !== undefined && y !== undefined && z !== undefined) stood.set(seat, [x, y, z]);
    const cell = stood.get(seat);
    if (lost && cell) cells.set(seat, cell);
  }
  return cells;
}

/** Where the seats that were lost since `before` stood last. */
export function fallen(view: CubeView, before: CubeView): Cross[] {
  const [cells, stood] = [lastCells(view, before), cellsOf(before)];
  return view.lost.filter(({ seat }) => stood.has(seat)).map(({ seat }) => ({ seat, place: cells.get(seat) ?? stood.get(seat)! }));
}

export function scoresOf(view: CubeView): number[] {
  const scores = new Map(view.lost.map(({ seat, tick }) => [seat, tick]));
  return Array.from({ length: view.players.length + view.lost.length }, (_, seat) => scores.get(seat) ?? view.tick);
}

export function describe(view: CubeView, seats: readonly Seat[]): string {
  const living = view.players.map(({ seat, x, y, z }) => `${nameAt(seats, seat)} at ${x}, ${y}, ${z}`);
  const lost = view.lost.map(({ seat, tick, cause }) => `${nameAt(seats, seat)} lost in tick ${tick}: ${causeInWords(cause)}`);
  const parts = [
    `Tick ${view.tick} of at most ${view.ticks} in a cube with ${view.edge} cells along each edge.`,
    living.length ? `In the cube: ${living.join('; ')}.` : 'Nobody is in the cube.',
    view.bombs.length > 12 ? `${view.bombs.length} bombs.` : `Bombs: ${view.bombs.map((cell) => cell.join(', ')).join('; ') || 'none'}.`,
  ];
  return [...parts, ...(lost.length ? [`${lost.join('; ')}.`] : [])].join(' ');
}

export function marks(view: CubeView, before: CubeView, seats: readonly Seat[]): Mark[] {
  if (view.tick === before.tick) return [];
  const crosses = fallen(view, before);
  const met = (place: Cross['place'], seat: number) => crosses.filter((one) => one.seat !== seat && one.place.join() === place.join()).map((one) => nameAt(seats, one.seat));
  return crosses.map(({ seat, place }) => {
    const player = seats[seat]?.player;
    const cause = causeInWords(view.lost.find((one) => one.seat === seat)?.cause, met(place, seat));
    const mark: Mark = { kind: 'out', words: `${nameAt(seats, seat)} ${cause} at ${place.join(', ')}` };
    return player === undefined ? mark : { ...mark, player };
  });
}

export function moveInWords(move: unknown): string {
  const tasks = Array.isArray(move) ? move : [move];
  return tasks.map(taskInWords).join(', then ');
}

function taskInWords(task: unknown): string {
  if (typeof task !== 'object' || task === null) return JSON.stringify(task);
  const { task: word, direction, x, y, z } = task as Record<string, unknown>;
  if (word === 'MOVE') return `steps ${String(direction)}`;
  if (word === 'BOMB' || word === 'PLACE_BOMB') return `bombs ${String(x)}, ${String(y)}, ${String(z)}`;
  return 'does nothing';
}
