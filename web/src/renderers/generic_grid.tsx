/** A grid of any game: one square for each cell, with its sign, and a colour that belongs to that sign. */
import { useMemo } from 'preact/hooks';
import { type Grid, type Place, changesIn, isBlank } from './generic_view';
import { colourOf } from './renderer';

export interface GridProps {
  title: string;
  grid: Grid;
  before: Grid | null;
  /** The player that a sign stands for, where it does. */
  marks: ReadonlyMap<string, number>;
  /** The cells that can be chosen, as "row,column". */
  open: ReadonlyMap<string, unknown> | null;
  choose?: (cell: string) => void;
}

/** The width of a cell, in the units of the picture. */
const CELL = 10;

export function GenericGrid({ title, grid, before, marks, open, choose }: GridProps) {
  const width = Math.max(...grid.map((row) => row.length)) * CELL;
  const touch = (event: MouseEvent & { currentTarget: SVGSVGElement }) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(event.currentTarget.getScreenCTM()?.inverse());
    const cell = `${Math.floor(point.y / CELL)},${Math.floor(point.x / CELL)}`;
    if (open?.has(cell)) choose?.(cell);
  };
  return (
    <svg class={`generic-grid${open ? ' playing' : ''}`} viewBox={`-1 -1 ${width + 2} ${grid.length * CELL + 2}`} role="img" aria-label={title} onClick={open ? touch : undefined}>
      <Cells grid={grid} marks={marks} />
      {open && <path class="generic-open" d={[...open.keys()].map((cell) => squareAt(cell.split(',').map(Number) as unknown as Place, 4.2)).join('')} />}
      <path key={grid.flat().join()} class="generic-changed" d={changesIn(grid, before).map((place) => squareAt(place, 0.5)).join('')} />
    </svg>
  );
}

function squareAt([row, column]: Place, inset: number): string {
  const side = CELL - 2 * inset;
  return `M${column * CELL + inset} ${row * CELL + inset}h${side}v${side}h${-side}z`;
}

/** One path for all cells of a kind. Redrawn only when a cell changes. */
function Cells({ grid, marks }: { grid: Grid; marks: ReadonlyMap<string, number> }) {
  return useMemo(() => {
    const cells = grid.flatMap((row, r) => row.map((value, c) => ({ value, place: [r, c] as const })));
    const there = cells.filter(({ value }) => value !== null);
    const signs = there.filter(({ value }) => !isBlank(value, grid));
    return (
      <g>
        <path class="generic-cell" d={there.map(({ place }) => squareAt(place, 0.3)).join('')} />
        {[...new Set(signs.map(({ value }) => value!))].map((sign) => {
          const places = signs.filter(({ value }) => value === sign).map(({ place }) => place);
          return (
            <g key={sign} style={{ color: colourFor(sign, marks) }}>
              <path class="generic-sign-cell" d={places.map((place) => squareAt(place, 0.3)).join('')} />
              <text style={{ fontSize: `${sign.length > 1 ? 9 / sign.length + 0.6 : 6.4}px` }}>
                {places.map(([row, column]) => <tspan key={`${row},${column}`} x={column * CELL + 5} y={row * CELL + 7.2}>{sign}</tspan>)}
              </text>
            </g>
          );
        })}
      </g>
    );
  }, [grid.map((row) => row.join('\t')).join('\n'), [...marks].join()]);
}

/** The colour of the player whose sign it is; otherwise always the same one for the same sign, and grey for walls. */
function colourFor(sign: string, marks: ReadonlyMap<string, number>): string {
  if (sign === '#') return 'var(--muted)';
  return colourOf(marks.get(sign) ?? (/^\d+$/.test(sign) ? Number(sign) : [...sign].reduce((sum, letter) => sum + letter.charCodeAt(0), 0)));
}
