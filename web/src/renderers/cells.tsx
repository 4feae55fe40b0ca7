/** Cells: the squares of a board that a person plays on, by mouse, touch and keyboard.
 *
 * The board is an ARIA grid: one square is in the tab order, the arrow keys walk, Enter and Space play.
 */
import type { ComponentChildren, TargetedKeyboardEvent, TargetedMouseEvent } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';

type Place = readonly [x: number, y: number];

export interface CellsProps {
  columns: number;
  rows: number;
  /** The name of the grid, for screen readers. */
  label: string;
  /** The drawing size of a square, and where the first one begins. */
  size: number;
  left: number;
  top: number;
  /** The square that is in the tab order first. */
  start: Place;
  /** The words for a square: where it is, and what is on it. */
  name(x: number, y: number): string;
  open(x: number, y: number): boolean;
  play(x: number, y: number): void;
  /** The sign of an open square under the pointer or the keyboard's focus. */
  ghost?(x: number, y: number): ComponentChildren;
}

/** A finger hits squares of this size in pixels; on smaller ones the first tap chooses and the second one plays. */
const FINGER = 30;

/** Where a key leads from a square; null: this key does not walk. */
export function walked(key: string, [x, y]: Place, columns: number, rows: number): [number, number] | null {
  const within = (value: number, count: number) => Math.max(0, Math.min(count - 1, value));
  switch (key) {
    case 'ArrowLeft': return [within(x - 1, columns), y];
    case 'ArrowRight': return [within(x + 1, columns), y];
    case 'ArrowUp': return [x, within(y - 1, rows)];
    case 'ArrowDown': return [x, within(y + 1, rows)];
    case 'Home': return [0, y];
    case 'End': return [columns - 1, y];
    case 'PageUp': return [x, 0];
    case 'PageDown': return [x, rows - 1];
    default: return null;
  }
}

/** The square that an event is about. */
function placeOf(event: Event): { cell: Element; place: Place } | null {
  const cell = event.target instanceof Element ? event.target.closest('[data-at]') : null;
  const [x, y] = (cell?.getAttribute('data-at') ?? '').split(',').map(Number);
  return cell && x !== undefined && y !== undefined ? { cell, place: [x, y] } : null;
}

const same = (one: Place | null, x: number, y: number) => one?.[0] === x && one[1] === y;

export function Cells(props: CellsProps) {
  const { columns, rows, label } = props;
  const [cursor, setCursor] = useState<Place>(props.start);
  const [pointed, setPointed] = useState<Place | null>(null);
  const grid = useRef<SVGGElement>(null);
  const at: Place = [Math.min(cursor[0], columns - 1), Math.min(cursor[1], rows - 1)];
  const go = (x: number, y: number) => {
    setCursor([x, y]);
    grid.current?.querySelector<SVGGElement>(`[data-at="${x},${y}"]`)?.focus();
  };
  const keyed = (event: TargetedKeyboardEvent<SVGGElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = walked(event.key, at, columns, rows);
    if (next) go(...next);
    else if (event.key === 'Enter' || event.key === ' ') {
      if (props.open(...at)) props.play(...at);
    } else return;
    // The keys of the page around the board must not act, too.
    event.preventDefault();
    event.stopPropagation();
  };
  const clicked = (event: TargetedMouseEvent<SVGGElement>) => {
    const { cell, place } = placeOf(event) ?? {};
    if (!cell || !place) return;
    const again = document.activeElement === cell;
    const touched = 'pointerType' in event && event.pointerType === 'touch';
    const tiny = cell.getBoundingClientRect().width < FINGER;
    go(...place);
    if (props.open(...place) && (again || !touched || !tiny)) props.play(...place);
  };
  return (
    <g
      role="grid" aria-label={label} class="cells" ref={grid} onKeyDown={keyed} onClick={clicked}
      // A press moves the focus by itself, so that a second tap could not be told from the first.
      onMouseDown={(event) => event.preventDefault()}
      onPointerOver={(event) => setPointed(placeOf(event)?.place ?? null)} onPointerLeave={() => setPointed(null)}
    >
      {Array.from({ length: rows }, (_, y) => (
        <g role="row" key={y}>
          {Array.from({ length: columns }, (_, x) => (
            <Cell key={x} board={props} x={x} y={y} current={same(at, x, y)} pointed={same(pointed, x, y)} />
          ))}
        </g>
      ))}
    </g>
  );
}

function Cell({ board, x, y, current, pointed }: { board: CellsProps; x: number; y: number; current: boolean; pointed: boolean }) {
  const { size, left, top } = board;
  const free = board.open(x, y);
  const name = board.name(x, y);
  // A board has hundreds of squares, and few of them change in a step.
  return useMemo(() => (
    <g
      role="gridcell" class={free ? 'cell open' : 'cell'} tabindex={current ? 0 : -1} data-at={`${x},${y}`}
      aria-label={name} aria-disabled={!free}
    >
      <rect class="cell-area" x={left + x * size} y={top + y * size} width={size} height={size} rx={size / 12} />
      {free && (current || pointed) && board.ghost?.(x, y)}
    </g>
  ), [free, name, current, pointed, size, left, top]);
}
