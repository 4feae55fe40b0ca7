/** Battleship in words: positions, moves, and important events. Pure. */
import { boatsIn, isSunk, squaresOf } from './battleship_fleet';
import type { Mark, Seat } from './renderer';

export type Turn = { shooter: number; target: number; x: number; y: number; hit: boolean } | { shooter: number; skip: true };

export type BattleshipView = {
  you: number | null;
  toMove: number[];
  phase: 'placement' | 'shooting' | 'over';
  width: number;
  height: number;
  boats: string[];
  goal: number;
  round: number;
  rounds: number;
  boards: string[][];
  own: string[] | null;
  fleets: string[][] | null;
  placed: boolean[];
  scores: number[];
  skips: number[];
  turns: number[];
  last: Turn | null;
};

export type Shot = Exclude<Turn, { skip: true }>;

/** The shot of the last turn; null if there was none. */
export function lastShot(view: BattleshipView): Shot | null {
  return view.last && !('skip' in view.last) ? view.last : null;
}

/** Columns are letters from the left, rows are numbers from the top. */
export function squareName(x: number, y: number): string {
  return `${String.fromCharCode(97 + x)}${y + 1}`;
}

export function playerName(seats: readonly Seat[], seat: number): string {
  return seats[seat]?.name ?? `seat ${seat}`;
}

/** The squares that a fleet covers. */
export function fleetSize(view: BattleshipView): number {
  return view.boats.reduce((sum, name) => sum + Number(name.slice(1)), 0);
}

/** The names of the squares of a board that have this mark. */
function squaresWith(board: readonly string[], wanted: string): string[] {
  return board.flatMap((row, y) => [...row].flatMap((mark, x) => (mark === wanted ? [squareName(x, y)] : [])));
}

export function hitsOn(view: BattleshipView, seat: number): number {
  return squaresWith(view.boards[seat] ?? [], 'X').length;
}

export function describe(view: BattleshipView, seats: readonly Seat[]): string {
  const names = (numbers: readonly number[]) => numbers.map((seat) => playerName(seats, seat)).join(', ');
  const size = `Boards of ${view.width} by ${view.height}, boats ${view.boats.join(', ')}.`;
  if (view.phase === 'placement') return `${size} The players place their fleets: ${names(view.toMove)}.`;
  const boards = view.boards.map((_, seat) => describeBoard(view, seats, seat));
  return [size, ...boards, lastTurn(view, seats), standing(view, names)].filter(Boolean).join(' ');
}

function describeBoard(view: BattleshipView, seats: readonly Seat[], seat: number): string {
  const board = view.boards[seat]!;
  const hits = squaresWith(board, 'X');
  const where = hits.length ? ` (${hits.join(', ')})` : '';
  const misses = squaresWith(board, '0').length;
  const points = view.scores[seat]!;
  return `${playerName(seats, seat)} has scored ${points} ${points === 1 ? 'hit' : 'hits'}; on its board ${hits.length} of ${fleetSize(view)} squares with boats are hit${where}, and ${misses} ${misses === 1 ? 'shot' : 'shots'} missed.`;
}

function lastTurn(view: BattleshipView, seats: readonly Seat[]): string {
  if (!view.last) return '';
  const shooter = playerName(seats, view.last.shooter);
  const shot = lastShot(view);
  if (!shot) return `${shooter} skipped the last turn.`;
  return `The last shot, by ${shooter} at ${squareName(shot.x, shot.y)} of ${playerName(seats, shot.target)}, ${shot.hit ? 'hit' : 'missed'}.`;
}

function standing(view: BattleshipView, names: (numbers: readonly number[]) => string): string {
  if (view.phase === 'shooting') return `${names(view.toMove)} is to shoot. The game ends with the round in which a player has ${view.goal} hits.`;
  const most = Math.max(...view.scores);
  const best = view.scores.flatMap((score, seat) => (score === most ? [seat] : []));
  return `The game is over; most hits: ${names(best)}.`;
}

/** Hits, sunk boats and destroyed fleets. Which boat was hit is secret until the end, so boats are told only once the match is over. */
export function marks(view: BattleshipView, before: BattleshipView, seats: readonly Seat[], final: BattleshipView | null = null): Mark[] {
  const count = (turns: readonly number[]) => turns.reduce((sum, turn) => sum + turn, 0);
  const shot = lastShot(view);
  if (!shot?.hit || count(view.turns) === count(before.turns)) return [];
  const mark = (seat: number, words: string): Mark => {
    const player = seats[seat]?.player;
    return player === undefined ? { kind: 'capture', words } : { kind: 'capture', words, player };
  };
  const target = playerName(seats, shot.target);
  const hit = mark(shot.shooter, `${playerName(seats, shot.shooter)} hits ${target} at ${squareName(shot.x, shot.y)}`);
  const boat = boatsIn(final?.fleets?.[shot.target] ?? []).find((one) => squaresOf(one).some(([x, y]) => x === shot.x && y === shot.y));
  if (boat && isSunk(boat, view.boards[shot.target]!)) hit.words += ` and sinks its boat of ${boat.length}`;
  return hitsOn(view, shot.target) === fleetSize(view) ? [hit, mark(shot.target, `The whole fleet of ${target} is sunk`)] : [hit];
}

/** A turn that was passed has no move, and that of a hit is told by its mark, once the film has been read up to it. */
export function silent(view: BattleshipView, seats: readonly Seat[]): string {
  if (view.phase === 'placement') return 'The players place their fleets.';
  if (!view.last) return 'The fleets are placed.';
  const shot = lastShot(view);
  const shooter = playerName(seats, view.last.shooter);
  return shot ? `${shooter} ${shot.hit ? 'hits' : 'misses'} ${playerName(seats, shot.target)} at ${squareName(shot.x, shot.y)}.` : `${shooter} skips the turn.`;
}

export function moveInWords(move: unknown, view: BattleshipView, seats: readonly Seat[]): string {
  const { board, skip, target, x, y } = move as { board?: unknown; skip?: boolean; target?: number; x: number; y: number };
  if (board !== undefined) return 'places the fleet';
  if (skip) return 'skips the turn';
  const shot = lastShot(view);
  const made = shot?.x === x && shot.y === y && (target ?? shot.target) === shot.target ? shot : null;
  if (made?.hit) return ''; // a mark says it
  const of = target === undefined || view.boards.length === 2 ? '' : ` of ${playerName(seats, target)}`;
  return `${squareName(x, y)}${of}${made ? ', miss' : ''}`;
}
