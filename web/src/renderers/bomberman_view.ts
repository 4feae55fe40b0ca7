/** Positions of Bomberman: the tiles that will burn, legal actions, changes of a step, and words for them. Pure. */
import type { View } from '../replay/film';

/** Row and column. */
export type Place = readonly [number, number];
export type Tiles = readonly string[];
export type Action = 'MOVE_UP' | 'MOVE_DOWN' | 'MOVE_LEFT' | 'MOVE_RIGHT' | 'PLACE_BOMB' | 'WAIT';

export interface User {
  seat: number;
  at: Place | null;
  alive: boolean;
  bombsLeft: number;
  range: number;
  kills: number;
  crates: number;
  upgrades: number;
}
export interface Bomb { at: Place; turnsLeft: number; range: number; seat: number }
export interface Upgrade { at: Place; type: string }

export interface BombermanView extends View {
  you: number | null;
  toMove: readonly number[];
  round: number;
  rounds: number;
  height: number;
  width: number;
  /** Rounds from placing a bomb to its blast. */
  fuse: number;
  flamePierces: boolean;
  tiles: Tiles;
  users: readonly User[];
  bombs: readonly Bomb[];
  upgrades: readonly Upgrade[];
  explosions: readonly Place[];
  closing: { from: number; at: number | null; next: readonly Place[] };
}

/** A bomb, what it will burn, and after how many rounds: others may set it off before its own time. */
export interface Burn { bomb: Bomb; places: Place[]; turns: number }

export const FREE = '.';
export const CRATE = '+';
export const WALL = '#';
export const STEPS: Partial<Record<Action, Place>> = {
  MOVE_UP: [-1, 0], MOVE_DOWN: [1, 0], MOVE_LEFT: [0, -1], MOVE_RIGHT: [0, 1],
};
export const ACTIONS: Record<Action, string> = {
  MOVE_UP: 'up', MOVE_DOWN: 'down', MOVE_LEFT: 'left', MOVE_RIGHT: 'right', PLACE_BOMB: 'bomb', WAIT: 'wait',
};
const SHORT: Record<string, Action> = {
  UP: 'MOVE_UP', DOWN: 'MOVE_DOWN', LEFT: 'MOVE_LEFT', RIGHT: 'MOVE_RIGHT', BOMB: 'PLACE_BOMB', STAY: 'WAIT', NOOP: 'WAIT',
};

export function tileAt(tiles: Tiles, [row, column]: Place): string | undefined {
  return tiles[row]?.[column];
}

export function same(one: Place, other: Place): boolean {
  return one[0] === other[0] && one[1] === other[1];
}

/** Whether a wall stands there from the start. */
export function isPillar([row, column]: Place): boolean {
  return row % 2 === 1 && column % 2 === 1;
}

export function placesOf(tiles: Tiles, tile: string): Place[] {
  return tiles.flatMap((cells, row) => [...cells].flatMap((cell, column): Place[] => (cell === tile ? [[row, column]] : [])));
}

/** The tiles that one bomb burns, its own first. */
export function flames(tiles: Tiles, { at, range }: Bomb, pierces: boolean): Place[] {
  return [at, ...Object.values(STEPS).flatMap(([down, right]) => arm(tiles, at, [down, right], range, pierces))];
}

function arm(tiles: Tiles, at: Place, [down, right]: Place, range: number, pierces: boolean): Place[] {
  const places: Place[] = [];
  for (let step = 1; step <= range; step++) {
    const place: Place = [at[0] + down * step, at[1] + right * step];
    const tile = tileAt(tiles, place);
    if (tile === undefined || tile === WALL) break;
    places.push(place);
    if (tile === CRATE && !pierces) break;
  }
  return places;
}

/** The tiles that will burn if no other bomb is placed. Chain reactions and crates burned earlier are counted. */
export function burnPlan(view: BombermanView): Burn[] {
  const plan: Burn[] = [];
  let { tiles } = view;
  let waiting = [...view.bombs];
  while (waiting.length) {
    const turns = Math.min(...waiting.map((bomb) => bomb.turnsLeft));
    const burning = chain(tiles, waiting, turns, view.flamePierces);
    plan.push(...burning);
    waiting = waiting.filter((bomb) => !burning.some((burn) => burn.bomb === bomb));
    tiles = withoutCrates(tiles, burning.flatMap(({ places }) => places));
  }
  return plan;
}

function chain(tiles: Tiles, bombs: readonly Bomb[], turns: number, pierces: boolean): Burn[] {
  const burning: Burn[] = [];
  const going = bombs.filter((bomb) => bomb.turnsLeft === turns);
  for (const bomb of going) { // grows on the way
    const places = flames(tiles, bomb, pierces);
    burning.push({ bomb, places, turns });
    going.push(...bombs.filter((other) => !going.includes(other) && places.some((place) => same(place, other.at))));
  }
  return burning;
}

function withoutCrates(tiles: Tiles, burned: readonly Place[]): Tiles {
  const rows = tiles.map((row) => [...row]);
  for (const [row, column] of burned) if (rows[row]![column] === CRATE) rows[row]![column] = FREE;
  return rows.map((row) => row.join(''));
}

/** The legal actions of a user: from the list of legal moves if there is one, otherwise from the position. */
export function openActions(view: BombermanView, seat: number, legal?: readonly unknown[]): Set<Action> {
  if (legal) return new Set(legal.flatMap((move) => actionIn(move) ?? []));
  return new Set((Object.keys(ACTIONS) as Action[]).filter((action) => isOpen(view, seat, action)));
}

function isOpen(view: BombermanView, seat: number, action: Action): boolean {
  const user = view.users[seat];
  if (!user?.at) return false;
  const [step, hasBomb] = [STEPS[action], (place: Place) => view.bombs.some((bomb) => same(bomb.at, place))];
  if (step) {
    const target: Place = [user.at[0] + step[0], user.at[1] + step[1]];
    return tileAt(view.tiles, target) === FREE && !hasBomb(target);
  }
  return action === 'WAIT' || (user.bombsLeft > 0 && !hasBomb(user.at));
}

/** The action that a move stands for: a word, alone or in an object, in any case. */
function actionIn(move: unknown): Action | null {
  const word = typeof move === 'object' && move !== null && 'action' in move ? move.action : move;
  if (typeof word !== 'string') return null;
  const upper = word.toUpperCase();
  return upper in ACTIONS ? (upper as Action) : (SHORT[upper] ?? null);
}

export function moveInWords(move: unknown): string {
  const action = actionIn(move);
  return action ? ACTIONS[action] : JSON.stringify(move);
}

export function upgradeInWords(type: string): string {
  return { ADDITIONAL_BOMB: 'one more bomb', EXPLOSION_RANGE: 'a longer range' }[type] ?? type;
}
