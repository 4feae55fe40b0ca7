/** Positions of Bumblebots: the places of hexes, the changes of a step, and words for them. Pure. */
import type { View } from '../replay/film';
import { nameOf, type Mark, type Seat } from './renderer';

/** Row and column. */
export type Hex = readonly [number, number];
export type Direction = 'UL' | 'UR' | 'L' | 'R' | 'DL' | 'DR';
export interface Point { x: number; y: number }

export interface BumblebotsView extends View {
  you: number | null;
  toMove: readonly number[];
  turnNumber: number;
  ticks: number;
  board: readonly (readonly (number | null)[])[];
  spawnPoints: readonly (readonly Hex[])[];
  territory: readonly number[];
  maxDrones: number;
  drones: readonly Record<string, { position: Hex }>[];
  score: readonly number[];
  record: readonly { missed: number; invalid: number; blocked: number }[];
}

/** A drone that has claimed a flower and is gone. */
export interface Claim { seat: number; drone: string; hex: Hex }

export const EMPTY = 0;
export const WALL = 1;
export const FLOWER = 2;
export const STEPS: Record<Direction, Hex> = { UL: [-1, -1], UR: [-1, 0], L: [0, -1], R: [0, 1], DL: [1, 0], DR: [1, 1] };
export const DIRECTIONS = Object.keys(STEPS) as Direction[];
export const DIRECTION_WORDS: Record<Direction, string> = {
  UL: 'up left', UR: 'up right', L: 'left', R: 'right', DL: 'down left', DR: 'down right',
};

/** From the middle of a hex to its corners; the hexes stand on a corner. */
export const RADIUS = 10;
const WIDTH = RADIUS * Math.sqrt(3);

export function centreOf([row, column]: Hex): Point {
  return { x: (column - row / 2) * WIDTH, y: row * 1.5 * RADIUS };
}

/** The hex around a point; it need not be on the board. */
export function hexAt({ x, y }: Point): Hex {
  const near = Math.round(y / (1.5 * RADIUS));
  const rows = [near - 1, near, near + 1];
  const hexes = rows.map((row): Hex => [row, Math.round(x / WIDTH + row / 2)]);
  const distance = (hex: Hex) => Math.hypot(centreOf(hex).x - x, centreOf(hex).y - y);
  return hexes.reduce((best, hex) => (distance(hex) < distance(best) ? hex : best));
}

/** Left, top, width and height of the board. */
export function frameOf(rows: number): [number, number, number, number] {
  const side = (rows + 1) / 2;
  return [-(side / 2) * WIDTH, -RADIUS, rows * WIDTH, (rows - 1) * 1.5 * RADIUS + 2 * RADIUS];
}

/** The outline of hexes as one path, each drawn with this radius. */
export function outlineOf(hexes: readonly Hex[], radius: number, shift = 0): string {
  const half = (radius * Math.sqrt(3)) / 2;
  return hexes.map((hex) => {
    const { x, y } = centreOf(hex);
    return `M${round(x)} ${round(y - radius + shift)}l${round(half)} ${radius / 2}v${radius}l${round(-half)} ${radius / 2}l${round(-half)} ${-radius / 2}v${-radius}z`;
  }).join('');
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Row by row, the hexes for which this holds. */
export function hexesWhere(board: BumblebotsView['board'], holds: (value: number) => boolean): Hex[] {
  return board.flatMap((cells, row) =>
    cells.flatMap((value, column): Hex[] => (value !== null && holds(value) ? [[row, column]] : [])));
}

export function valueAt(view: BumblebotsView, [row, column]: Hex): number | null {
  return view.board[row]?.[column] ?? null;
}

export function beside(hex: Hex, direction: Direction): Hex {
  const step = STEPS[direction];
  return [hex[0] + step[0], hex[1] + step[1]];
}

export function same(one: Hex, other: Hex): boolean {
  return one[0] === other[0] && one[1] === other[1];
}

export function dronesOf(view: BumblebotsView, seat: number): [string, Hex][] {
  return Object.entries(view.drones[seat] ?? {}).map(([name, { position }]) => [name, position]);
}

/** The flowers that were claimed in a step, each with the drone that was used up. */
export function claimsIn(view: BumblebotsView, before: BumblebotsView): Claim[] {
  const open = hexesWhere(before.board, (value) => value === FLOWER).filter((hex) => valueAt(view, hex) === WALL);
  return before.drones.flatMap((_, seat) => dronesOf(before, seat)
    .filter(([drone]) => view.drones[seat]?.[drone] === undefined)
    .flatMap(([drone, at]): Claim[] => {
      const found = open.findIndex((hex) => same(hex, at) || DIRECTIONS.some((way) => same(hex, beside(at, way))));
      return found < 0 ? [] : [{ seat, drone, hex: open.splice(found, 1)[0]! }];
    }));
}

/** Drone by drone, where each may go: by the list of legal moves if there is one, otherwise by the position. */
export function openWays(view: BumblebotsView, seat: number, legal?: readonly unknown[]): Map<string, Set<Direction>> {
  const listed = legal?.map((move) => ordersIn(move) ?? {});
  return new Map(dronesOf(view, seat).map(([drone, at]) => {
    const open = (way: Direction) => listed?.some((orders) => orders[drone] === way) ?? isOpen(view, seat, beside(at, way));
    return [drone, new Set(DIRECTIONS.filter(open))];
  }));
}

function isOpen(view: BumblebotsView, seat: number, hex: Hex): boolean {
  const value = valueAt(view, hex);
  return value === EMPTY || value === FLOWER || (value !== null && value === view.territory[seat]);
}

/** The orders in a move, which may come with or without the key around them; null: it is none. */
function ordersIn(move: unknown): Record<string, unknown> | null {
  if (!isObject(move)) return null;
  return 'orders' in move ? (isObject(move.orders) ? move.orders : null) : move;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function moveInWords(move: unknown): string {
  const orders = ordersIn(move);
  if (!orders) return JSON.stringify(move);
  const words = Object.entries(orders).map(([drone, way]) =>
    `${drone} ${DIRECTION_WORDS[way as Direction] ?? JSON.stringify(way)}`);
  return words.join(', ') || 'all drones stay';
}

export function marks(view: BumblebotsView, before: BumblebotsView, seats: readonly Seat[]): Mark[] {
  const claims = claimsIn(view, before).map(({ seat, hex }): Mark => ({
    kind: 'capture',
    player: seats[seat]?.player ?? seat,
    words: `${nameOf(seats, seat)} claims the flower at ${hex.join(', ')}: ${view.score.join(' to ')}`,
  }));
  const faults = view.record.flatMap(({ invalid }, seat): Mark[] => {
    const count = invalid - (before.record[seat]?.invalid ?? 0);
    const words = `${count === 1 ? 'An order' : `${count} orders`} of ${nameOf(seats, seat)} could not be carried out`;
    return count > 0 ? [{ kind: 'illegal', player: seats[seat]?.player ?? seat, words }] : [];
  });
  return [...claims, ...faults];
}

export function describe(view: BumblebotsView, seats: readonly Seat[]): string {
  const places = (hexes: readonly Hex[]) => hexes.map((hex) => hex.join(', ')).join('; ');
  const flowers = hexesWhere(view.board, (value) => value === FLOWER);
  const sides = view.drones.map((_, seat) => {
    const drones = dronesOf(view, seat).map(([drone, at]) => `${drone} at ${at.join(', ')}`).join('; ');
    const zone = hexesWhere(view.board, (value) => value === view.territory[seat]).length;
    const whose = view.you === seat ? `${nameOf(seats, seat)} (you)` : nameOf(seats, seat);
    return `${whose}: score ${view.score[seat]}, a zone of ${zone} hexes, ${drones ? `drones ${drones}` : 'no drones'}.`;
  });
  return [
    `Tick ${view.turnNumber} of ${view.ticks}. Places are row, column.`,
    ...sides,
    flowers.length ? `Flowers at ${places(flowers)}.` : 'No flowers.',
    ...(view.toMove.length ? [] : ['The game is over.']),
  ].join(' ');
}
