/** The board of one player of battleship: water, boats as far as they are known, hits and misses. */
import type { ComponentChildren } from 'preact';
import { boatsIn, isSunk, type PlacedBoat } from './battleship_fleet';
import { squareName } from './battleship_words';
import { Cells } from './cells';

export const SQUARE = 20;
/** Room for the coordinates. */
const LEFT = 17;
const TOP = 15;

export interface SeaProps {
  width: number;
  height: number;
  /** Hits and misses. */
  board: readonly string[];
  before: readonly string[] | null;
  /** Letters, where they are known. */
  fleet: readonly string[] | null;
  /** Without coordinates and letters. */
  small: boolean;
  label: string;
  /** The square of the last shot, and the colour of its shooter. */
  last: { x: number; y: number; colour: string } | null;
  /** For a player that may shoot here, now or later. */
  aim?: { open(x: number, y: number): boolean; shoot(x: number, y: number): void } | undefined;
}

export function Sea({ width, height, board, before, fleet, small, label, last, aim }: SeaProps) {
  return (
    <Water width={width} height={height} small={small} {...(aim ? {} : { label })}>
      {fleet && boatsIn(fleet).map((boat) => <Hull key={boat.letter} boat={boat} sunk={isSunk(boat, board)} small={small} />)}
      <Shots board={board} before={before} />
      {last && <rect class="sea-last" key={`${last.x},${last.y}`} {...square(last.x, last.y, 0.5)} rx={3} style={{ color: last.colour }} />}
      {aim && (
        <Cells
          columns={width} rows={height} size={SQUARE} left={0} top={0} start={[Math.floor(width / 2), Math.floor(height / 2)]}
          label={label}
          name={(x, y) => `${squareName(x, y)}, ${WORDS[board[y]?.[x] ?? '.'] ?? 'not shot at'}`}
          open={aim.open}
          play={aim.shoot}
          ghost={(x, y) => <Crosshair x={x} y={y} />}
        />
      )}
    </Water>
  );
}

const WORDS: Record<string, string> = { X: 'hit', '0': 'miss' };

/** The drawn area of a board, with or without its coordinates. */
function frameOf(width: number, height: number, small: boolean) {
  const [left, top] = small ? [1, 1] : [LEFT, TOP];
  return { left, top, width: width * SQUARE + left + 1, height: height * SQUARE + top + 1 };
}

/** Where the middle of a square is, as parts of the drawing. */
export function middleOf(x: number, y: number, sea: { width: number; height: number }, small: boolean): [number, number] {
  const { left, top, width, height } = frameOf(sea.width, sea.height, small);
  return [(left + (x + 0.5) * SQUARE) / width, (top + (y + 0.5) * SQUARE) / height];
}

/** The empty board with its lines and coordinates. */
export function Water({ width, height, small, label, children }: {
  width: number; height: number; small: boolean; label?: string; children?: ComponentChildren;
}) {
  const [right, bottom] = [width * SQUARE, height * SQUARE];
  const across = Array.from({ length: width - 1 }, (_, at) => `M ${(at + 1) * SQUARE} 1 V ${bottom - 1}`);
  const down = Array.from({ length: height - 1 }, (_, at) => `M 1 ${(at + 1) * SQUARE} H ${right - 1}`);
  const frame = frameOf(width, height, small);
  return (
    <svg class="board-svg sea-svg" viewBox={`${-frame.left} ${-frame.top} ${frame.width} ${frame.height}`} {...(label ? { role: 'img', 'aria-label': label } : {})}>
      <rect class="sea-water" width={right} height={bottom} rx={4} />
      <path class="sea-lines" d={[...across, ...down].join(' ')} />
      {!small && (
        <g class="sea-coordinates" aria-hidden="true">
          {Array.from({ length: width }, (_, x) => <text key={x} x={(x + 0.5) * SQUARE} y={-4}>{squareName(x, 0).slice(0, 1)}</text>)}
          {Array.from({ length: height }, (_, y) => <text key={y} class="row" x={-4} y={(y + 0.5) * SQUARE + 3.4}>{y + 1}</text>)}
        </g>
      )}
      {children}
    </svg>
  );
}

function square(x: number, y: number, inset: number) {
  return { x: x * SQUARE + inset, y: y * SQUARE + inset, width: SQUARE - 2 * inset, height: SQUARE - 2 * inset };
}

/** The outline of a boat with its bow to the left or to the top. */
export function hullPath(length: number): string {
  const [near, far, end] = [2.4, SQUARE - 2.4, length * SQUARE - 2.2];
  return `M ${SQUARE * 0.75} ${near} H ${end - 4} Q ${end} ${near} ${end} ${near + 4} V ${far - 4} Q ${end} ${far} ${end - 4} ${far} H ${SQUARE * 0.75} Q 5 ${far - 1} 2.2 ${SQUARE / 2} Q 5 ${near + 1} ${SQUARE * 0.75} ${near} Z`;
}

export function Hull({ boat, sunk, small }: { boat: PlacedBoat; sunk: boolean; small: boolean }) {
  const { x, y, down, length, letter } = boat;
  // A boat that points down is one that points to the right, mirrored at the falling diagonal.
  const place = `translate(${x * SQUARE} ${y * SQUARE})${down ? ' matrix(0 1 1 0 0 0)' : ''}`;
  const [dx, dy] = down ? [0, length - 1] : [length - 1, 0];
  return (
    <g class={sunk ? 'hull sunk' : 'hull'}>
      <path class="hull-body" d={hullPath(length)} transform={place} />
      <path class="hull-deck" d={`M ${SQUARE * 0.55} ${SQUARE / 2} H ${(length - 1) * SQUARE - 1}`} transform={place} />
      {!small && <text class="hull-letter" x={(x + dx + 0.5) * SQUARE} y={(y + dy + 0.5) * SQUARE + 3.6}>{letter}</text>}
    </g>
  );
}

function Shots({ board, before }: { board: readonly string[]; before: readonly string[] | null }) {
  return (
    <g class="pieces" aria-hidden="true">
      {board.flatMap((row, y) => [...row].map((mark, x) => {
        if (mark === '.') return null;
        const fresh = before?.[y]?.[x] === '.' ? ' fresh' : '';
        return <ShotMark key={`${x},${y}`} x={x} y={y} hit={mark === 'X'} extra={fresh} />;
      }))}
    </g>
  );
}

function ShotMark({ x, y, hit, extra }: { x: number; y: number; hit: boolean; extra: string }) {
  if (!hit) return <circle class={`sea-miss${extra}`} cx={(x + 0.5) * SQUARE} cy={(y + 0.5) * SQUARE} r={3.4} />;
  return (
    <g class={`sea-hit${extra}`}>
      <rect {...square(x, y, 2)} rx={4} />
      <path d={`M ${x * SQUARE + 6.4} ${y * SQUARE + 6.4} l 7.2 7.2 m 0 -7.2 l -7.2 7.2`} />
    </g>
  );
}

function Crosshair({ x, y }: { x: number; y: number }) {
  const [cx, cy] = [(x + 0.5) * SQUARE, (y + 0.5) * SQUARE];
  return (
    <g class="ghost sea-aim">
      <circle cx={cx} cy={cy} r={6} />
      <path d={`M ${cx - 9} ${cy} h 6 m 6 0 h 6 M ${cx} ${cy - 9} v 6 m 0 6 v 6`} />
    </g>
  );
}
