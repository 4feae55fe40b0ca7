/** The renderer of gomoku: stones on the crossings of lines, with the coordinates that are usual (h8 is the middle of 15 by 15). */
import { useId, useState } from 'preact/hooks';
import { keep, kept } from '../parts/storage';
import { Cells } from './cells';
import { colourOf, type BoardProps, type Mark, type Renderer, type Seat } from './renderer';

type Point = readonly [x: number, y: number];

export type GomokuView = {
  you: number | null;
  toMove: number[];
  size: number;
  winLength: number;
  board: string[];
  moves: Point[];
  line: Point[] | null;
};

const CELL = 30;
const STONE = 13.6;
const MARKS = 'XO';
const NUMBERS = 'gomoku.numbers';

/** Columns are letters from the left, rows are numbers from the bottom. */
export function nameOf([x, y]: Point, size: number): string {
  return `${String.fromCharCode(97 + x)}${size - y}`;
}

/** The crossings with a dot, by which people find their way. */
export function starsOf(size: number): Point[] {
  const middle = (size - 1) / 2;
  const edge = size < 13 ? 2 : 3;
  const corners: Point[] = size < 9 ? [] : [[edge, edge], [size - 1 - edge, edge], [edge, size - 1 - edge], [size - 1 - edge, size - 1 - edge]];
  if (size % 2 === 0) return corners;
  const sides: Point[] = size < 19 ? [] : [[middle, edge], [edge, middle], [size - 1 - edge, middle], [middle, size - 1 - edge]];
  return [...corners, ...sides, [middle, middle]];
}

function markAt(view: GomokuView, [x, y]: Point): string {
  return view.board[y]?.[x] ?? '.';
}

function playerName(seats: readonly Seat[], seat: number): string {
  return seats[seat]?.name ?? `seat ${seat}`;
}

/** The stones of a seat, in the order in which they were put. */
function stonesOf(view: GomokuView, seat: number): Point[] {
  return view.moves.filter((point) => markAt(view, point) === MARKS[seat]);
}

export function describe(view: GomokuView, seats: readonly Seat[]): string {
  const { size, winLength } = view;
  const names = (points: readonly Point[]) => points.map((point) => nameOf(point, size)).join(', ') || 'none';
  const stones = [0, 1].map((seat) => `${seat ? 'Light' : 'Dark'} stones of ${playerName(seats, seat)}: ${names(stonesOf(view, seat))}.`);
  return [`Board of ${size} by ${size}; ${winLength} in a row win.`, ...stones, standing(view, seats)].join(' ');
}

function standing(view: GomokuView, seats: readonly Seat[]): string {
  const { size, line, toMove } = view;
  if (line?.length) {
    const winner = playerName(seats, MARKS.indexOf(markAt(view, line[0]!)));
    return `${winner} has won with the row from ${nameOf(line[0]!, size)} to ${nameOf(line.at(-1)!, size)}.`;
  }
  const last = view.moves.at(-1);
  const words = last ? `The last move was ${nameOf(last, size)}. ` : '';
  const [seat] = toMove;
  return words + (seat === undefined ? 'The board is over without a row.' : `${playerName(seats, seat)} is to move.`);
}

/** The row that wins. */
export function marks(view: GomokuView, before: GomokuView, seats: readonly Seat[]): Mark[] {
  const { line, size } = view;
  if (!line?.length || before.line) return [];
  const seat = MARKS.indexOf(markAt(view, line[0]!));
  const words = `${playerName(seats, seat)} has ${line.length} in a row, from ${nameOf(line[0]!, size)} to ${nameOf(line.at(-1)!, size)}`;
  return [{ kind: 'capture', words, player: seats[seat]?.player ?? seat }];
}

export function moveInWords(move: unknown, view: GomokuView): string {
  const { x, y } = move as { x: number; y: number };
  return nameOf([x, y], view.size);
}

function at([x, y]: Point): { cx: number; cy: number } {
  return { cx: x * CELL, cy: y * CELL };
}

function Lines({ size, small }: { size: number; small: boolean }) {
  const far = (size - 1) * CELL;
  const places = Array.from({ length: size }, (_, index) => index * CELL);
  return (
    <>
      <rect class="gomoku-plate" x={-20} y={-20} width={far + 40} height={far + 40} rx={9} />
      <path class="gomoku-lines" d={places.map((place) => `M 0 ${place} H ${far} M ${place} 0 V ${far}`).join(' ')} />
      <rect class="gomoku-edge" x={0} y={0} width={far} height={far} />
      {starsOf(size).map((point) => <circle key={point.join()} class="gomoku-star" {...at(point)} r={small ? 5 : 3.2} />)}
      {!small && <Coordinates places={places} size={size} />}
    </>
  );
}

function Coordinates({ places, size }: { places: number[]; size: number }) {
  const below = (size - 1) * CELL + 37;
  return (
    <g class="gomoku-coordinates" aria-hidden="true">
      {places.map((place, index) => (
        <g key={place}>
          <text x={place} y={below}>{String.fromCharCode(97 + index)}</text>
          <text class="row" x={-26} y={place + 4.5}>{size - index}</text>
        </g>
      ))}
    </g>
  );
}

/** The fillings of dark and light stones. They differ in shade, not only in colour. */
function Fillings({ id }: { id: string }) {
  return (
    <defs>
      {['dark', 'light'].map((shade) => (
        <radialGradient key={shade} id={`${id}${shade}`} cx="36%" cy="30%" r="78%">
          <stop offset="0" class={`gomoku-${shade}-0`} />
          <stop offset=".45" class={`gomoku-${shade}-1`} />
          <stop offset="1" class={`gomoku-${shade}-2`} />
        </radialGradient>
      ))}
    </defs>
  );
}

function Stone({ point, seat, id, extra = '' }: { point: Point; seat: number; id: string; extra?: string }) {
  const shade = seat ? 'light' : 'dark';
  return <circle class={`stone ${shade} ${extra}`} {...at(point)} r={STONE} fill={`url(#${id}${shade})`} />;
}

interface StonesProps extends Pick<BoardProps<GomokuView>, 'view' | 'before' | 'small'> {
  id: string;
  numbers: boolean;
}

function Stones({ view, before, small, id, numbers }: StonesProps) {
  const last = view.moves.at(-1);
  const fresh = (point: Point) => before !== null && before.size === view.size && markAt(before, point) === '.';
  return (
    <g class="pieces" aria-hidden="true">
      {view.line && <Row line={view.line} seat={MARKS.indexOf(markAt(view, view.line[0]!))} />}
      {view.moves.map((point, index) => {
        const seat = MARKS.indexOf(markAt(view, point));
        return (
          <g key={point.join()} class={fresh(point) ? 'gomoku-stone fresh' : 'gomoku-stone'}>
            {!small && <circle class="gomoku-shadow" cx={point[0] * CELL + 0.7} cy={point[1] * CELL + 1.6} r={STONE + 0.4} />}
            <Stone point={point} seat={seat} id={id} />
            {numbers && <text class={`gomoku-number shade-${seat}`} x={point[0] * CELL} y={point[1] * CELL + 4.3}>{index + 1}</text>}
          </g>
        );
      })}
      {last && <LastMove key={last.join()} point={last} seat={MARKS.indexOf(markAt(view, last))} small={small} ring={numbers} />}
    </g>
  );
}

function LastMove({ point, seat, small, ring }: { point: Point; seat: number; small: boolean; ring: boolean }) {
  if (ring) return <circle class="gomoku-last-ring" {...at(point)} r={STONE + 1.2} />;
  return <circle class={`gomoku-last shade-${seat}`} {...at(point)} r={small ? 5.5 : 4} />;
}

function Row({ line, seat }: { line: readonly Point[]; seat: number }) {
  const [first, last] = [line[0]!, line.at(-1)!];
  return (
    <path
      class="gomoku-row" pathLength={1} style={{ color: `var(--stone-${seat})` }}
      d={`M ${first[0] * CELL} ${first[1] * CELL} L ${last[0] * CELL} ${last[1] * CELL}`}
    />
  );
}

function Crossings({ view, move, legal, id, seats }: Pick<BoardProps<GomokuView>, 'view' | 'move' | 'legal' | 'seats'> & { id: string }) {
  const { size, you, toMove } = view;
  const turn = move !== undefined && you !== null && toMove.includes(you);
  const listed = legal && new Set((legal as { x: number; y: number }[]).map(({ x, y }) => `${x},${y}`));
  const middle = Math.floor(size / 2);
  const held = (point: Point) => {
    const seat = MARKS.indexOf(markAt(view, point));
    return seat < 0 ? 'empty' : `${seat ? 'light' : 'dark'} stone of ${playerName(seats, seat)}`;
  };
  return (
    <Cells
      columns={size} rows={size} size={CELL} left={-CELL / 2} top={-CELL / 2} start={[middle, middle]}
      label={`Gomoku, ${size} by ${size}`}
      name={(x, y) => `${nameOf([x, y], size)}, ${held([x, y])}`}
      open={(x, y) => turn && markAt(view, [x, y]) === '.' && (listed?.has(`${x},${y}`) ?? true)}
      play={(x, y) => move?.({ x, y })}
      ghost={(x, y) => <Stone point={[x, y]} seat={you ?? 0} id={id} extra="ghost" />}
    />
  );
}

function GomokuBoard({ view, before, seats, small, legal, move }: BoardProps<GomokuView>) {
  const id = useId();
  const [numbers, setNumbers] = useState(() => kept(NUMBERS) === 'yes');
  const far = (view.size - 1) * CELL;
  const playing = view.you !== null && !small;
  const shown = small ? `-20 -20 ${far + 40} ${far + 40}` : `-46 -22 ${far + 68} ${far + 68}`;
  const choose = (chosen: boolean) => {
    keep(NUMBERS, chosen ? 'yes' : 'no');
    setNumbers(chosen);
  };
  return (
    <div class={small ? 'gomoku small' : 'gomoku'}>
      <svg
        class="board-svg" viewBox={shown}
        style={{ '--stone-0': colourOf(seats[0]?.player ?? 0), '--stone-1': colourOf(seats[1]?.player ?? 1) }}
        {...(playing ? {} : { role: 'img', 'aria-label': `Gomoku board of ${view.size} by ${view.size}` })}
      >
        <Fillings id={id} />
        <Lines size={view.size} small={small} />
        <Stones view={view} before={before} small={small} id={id} numbers={numbers && !small} />
        {playing && <Crossings view={view} legal={legal} move={move} id={id} seats={seats} />}
      </svg>
      {!small && (
        <label class="board-choice">
          <input type="checkbox" checked={numbers} onChange={(event) => choose(event.currentTarget.checked)} /> Number the moves
        </label>
      )}
    </div>
  );
}

export const gomoku: Renderer<GomokuView> = {
  Board: GomokuBoard,
  describe,
  marks,
  moveInWords,
  silent: () => 'Nobody moves.',
  help: 'Click a free crossing to put a stone there; on a small screen, tap it twice. By keyboard: walk with the arrow keys, put the stone with Enter or Space.',
};
