/** Views of any game: which of their values are grids, tables or lists, and words for them. Pure. */
import type { View } from '../replay/film';
import { nameOf, type Seat } from './renderer';

/** Row by row; null: no cell is there. */
export type Grid = readonly (readonly (string | null)[])[];
export type Place = readonly [number, number];

/** A view, sorted by how its values are shown. */
export interface Outline {
  /** Single values. */
  facts: [string, string][];
  /** Lists with one value for each seat. */
  bySeat: [string, readonly unknown[]][];
  grids: { title: string; grid: Grid; path: string }[];
  /** All else. */
  rest: [string, unknown][];
}

const BLANK = new Set(['.', '', ' ', '_', '-', 'null']);
const LONGEST_LIST = 40;

export function outlineOf(view: View, seats: readonly Seat[]): Outline {
  const outline: Outline = { facts: [], bySeat: [], grids: [], rest: [] };
  for (const [key, value] of Object.entries(view)) {
    const title = titleOf(key);
    const grid = gridOf(value);
    const several = Array.isArray(value) ? value.map(gridOf) : [];
    if (key === 'you' || key === 'toMove') outline.facts.push(...turnFacts(key, value, seats));
    else if (several.length && several.every((each) => each !== null)) outline.grids.push(...captioned(title, key, several, seats));
    else if (grid) outline.grids.push({ title, grid, path: key });
    else if (isScalar(value)) outline.facts.push(...(value === null ? [] : [[title, textOf(value)] as [string, string]]));
    else if (isBySeat(key, value, seats)) outline.bySeat.push(...columnsOf(title, value));
    else outline.rest.push([title, value]);
  }
  return outline;
}

function turnFacts(key: string, value: unknown, seats: readonly Seat[]): [string, string][] {
  if (key === 'you') return typeof value === 'number' ? [['You are', nameOf(seats, value)]] : [];
  const movers = Array.isArray(value) ? value.map((seat) => nameOf(seats, Number(seat))) : [];
  return [['To move', movers.join(', ') || 'nobody']];
}

function captioned(title: string, key: string, grids: readonly (Grid | null)[], seats: readonly Seat[]): Outline['grids'] {
  const caption = (at: number) => (grids.length === seats.length ? `${title}: ${nameOf(seats, at)}` : `${title} ${at + 1}`);
  return grids.map((grid, at) => ({ title: caption(at), grid: grid!, path: `${key}.${at}` }));
}

/** winLength: Win length. A key with a capital is a name, and stays. */
export function titleOf(key: string): string {
  const words = wordsOf(key);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function wordsOf(key: string): string {
  return /^[a-z]/.test(key) ? key.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/_/g, ' ').toLowerCase() : key;
}

export function isScalar(value: unknown): value is string | number | boolean | null | undefined {
  return typeof value !== 'object' || value === null;
}

function textOf(value: string | number | boolean | null | undefined): string {
  return value === null || value === undefined ? '–' : value === true ? 'yes' : value === false ? 'no' : String(value);
}

/** A list of two may also be a place, or moves so far: it takes plain values, and a name in the plural or one that speaks of scores. */
function isBySeat(key: string, value: unknown, seats: readonly Seat[]): value is readonly unknown[] {
  if (!Array.isArray(value) || value.length !== seats.length || value.length < 2 || value.some(Array.isArray)) return false;
  return /s$|score|record/i.test(key) || value.every((each) => typeof each === 'boolean');
}

/** One column, or one for each key where the values are objects of one kind. */
function columnsOf(title: string, values: readonly unknown[]): Outline['bySeat'] {
  const keys = values.map((value) => (isScalar(value) ? null : Object.keys(value).join()));
  if (keys[0] === null || new Set(keys).size > 1) return [[title, values]];
  const rows = values as readonly Record<string, unknown>[];
  return Object.keys(rows[0]!).filter((key) => key !== 'seat').map((key) => [titleOf(key), rows.map((row) => row[key])]);
}

/** A value as a grid; null: it is none. Rows are strings of signs, or lists of short values; they may differ in length. */
export function gridOf(value: unknown): Grid | null {
  if (!Array.isArray(value) || value.length < 2) return null;
  if (value.every((row) => typeof row === 'string')) return gridOfStrings(value as string[]);
  const rows = value as readonly unknown[];
  const isRow = (row: unknown): row is unknown[] => Array.isArray(row) && row.length > 2 && row.every(isCell);
  return rows.every(isRow) ? rows.map((row) => row.map((cell) => (cell === null ? null : String(cell)))) : null;
}

/** Names of the same length are no grid: one has signs or blanks in it. */
function gridOfStrings(rows: readonly string[]): Grid | null {
  const width = rows[0]!.length;
  if (rows.length < 3 || width < 3 || rows.some((row) => row.length !== width)) return null;
  return /[^a-zA-Z0-9]/.test(rows.join('')) ? rows.map((row) => [...row]) : null;
}

function isCell(value: unknown): boolean {
  return isScalar(value) && String(value).length <= 3 || value === null || value === false;
}

export function isBlank(cell: string | null, grid: Grid): boolean {
  if (cell === null || BLANK.has(cell)) return true;
  return cell === 'false' || (cell === '0' && isNumeric(grid));
}

function isNumeric(grid: Grid): boolean {
  return grid.every((row) => row.every((cell) => cell === null || /^-?\d+$/.test(cell)));
}

/** The cells that differ from a grid of the same size. */
export function changesIn(grid: Grid, before: Grid | null): Place[] {
  if (!before || before.length !== grid.length) return [];
  return grid.flatMap((row, r) => row.flatMap((cell, c): Place[] => (before[r]![c] !== undefined && before[r]![c] !== cell ? [[r, c]] : [])));
}

/** The value at a path like "boards.1". */
export function at(view: View, path: string): unknown {
  return path.split('.').reduce((value: unknown, key) => (value as Record<string, unknown> | undefined)?.[key], view);
}

/** Any value on one line. */
export function inline(value: unknown): string {
  if (isScalar(value)) return textOf(value);
  if (!Array.isArray(value)) return Object.entries(value).map(([key, each]) => `${wordsOf(key)} ${nested(each)}`).join(', ') || 'none';
  const more = value.length - LONGEST_LIST;
  return [...value.slice(0, LONGEST_LIST).map(nested), ...(more > 0 ? [`and ${more} more`] : [])].join(', ') || 'none';
}

function nested(value: unknown): string {
  return isScalar(value) ? textOf(value) : `(${inline(value)})`;
}

export function describe(view: View, seats: readonly Seat[]): string {
  const { facts, bySeat, grids, rest } = outlineOf(view, seats);
  return [
    ...facts.map(([title, text]) => `${title}: ${text}.`),
    ...bySeat.map(([title, values]) => `${title}: ${values.map((value, seat) => `${nameOf(seats, seat)} ${nested(value)}`).join(', ')}.`),
    ...grids.map(({ title, grid }) => `${title}, row by row: ${grid.map((row) => row.map((cell) => cell || '.').join(' ')).join(' / ')}.`),
    ...rest.map(([title, value]) => `${title}: ${inline(value)}.`),
  ].join(' ');
}

/** The numbers of the key `scores` or `score`, if that is what they are. */
export function scores(view: View): readonly number[] | null {
  const found = view.scores ?? view.score;
  return Array.isArray(found) && found.every((value) => typeof value === 'number') ? found : null;
}

/** A move without its brackets: the value alone if there is one, otherwise keys and values. */
export function moveInWords(move: unknown): string {
  if (isScalar(move) || Array.isArray(move)) return inline(move);
  const [only, ...others] = Object.values(move);
  return others.length || only === undefined ? inline(move) : inline(only);
}

/** The cell that a move speaks of: [row, column], or an object with row and column or y and x. */
export function placeIn(move: unknown): Place | null {
  if (isScalar(move)) return null;
  if (Array.isArray(move)) return move.length === 2 && move.every(Number.isInteger) ? [move[0], move[1]] : null;
  const { row, column, x, y } = move as Record<string, unknown>;
  const own = placeIn([row ?? y, column ?? x]);
  if (own) return own;
  const found = Object.values(move).map(placeIn).filter((place) => place !== null);
  return found.length === 1 ? found[0]! : null;
}

/** Moves by the cells of a grid ("row,column"), if every move has a cell of its own; otherwise null. */
export function movesByCell(legal: readonly unknown[], grid: Grid): Map<string, unknown> | null {
  const cells = new Map<string, unknown>();
  for (const move of legal) {
    const place = placeIn(move);
    if (!place || grid[place[0]]?.[place[1]] === undefined || cells.has(place.join())) return null;
    cells.set(place.join(), move);
  }
  return cells.size ? cells : null;
}
