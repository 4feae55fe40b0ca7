/** Battlecube as a flat picture: the cube seen from a corner. For small boards, and where there is no WebGL. */
import type { BoardProps } from './renderer';
import { colourOf, signOf } from './renderer';
import { cellsOf, type Cell, type CubeView } from './battlecube_view';

const SIZE = 100;
const COS = 0.866;
const MOST_BOMBS = 400;

/** The corners of the outline, as cells beyond the last. */
const EDGES: readonly [Cell, Cell][] = [
  [[0, 1, 0], [1, 1, 0]], [[0, 1, 0], [0, 1, 1]], [[1, 1, 0], [1, 1, 1]], [[0, 1, 1], [1, 1, 1]],
  [[0, 0, 1], [1, 0, 1]], [[0, 1, 1], [0, 0, 1]], [[1, 1, 1], [1, 0, 1]], [[0, 1, 0], [0, 0, 0]],
  [[0, 0, 0], [0, 0, 1]], [[0, 0, 0], [1, 0, 0]], [[1, 0, 0], [1, 0, 1]], [[1, 0, 0], [1, 1, 0]],
];

export function FlatCube({ view, seats, small, crosses = [] }: BoardProps<CubeView>) {
  const unit = SIZE / view.edge;
  const radius = Math.max(unit * 0.4, 3);
  return (
    <svg class="cube-flat" viewBox={`${-SIZE} ${-SIZE} ${2 * SIZE} ${2 * SIZE}`} aria-hidden="true">
      {EDGES.map(([from, to], i) => <EdgeLine key={i} from={scaled(from, view.edge)} to={scaled(to, view.edge)} unit={unit} behind={i < 7} />)}
      {view.bombs.slice(-MOST_BOMBS).map((cell) => (
        <circle key={cell.join()} class="cube-bomb" r={radius * 0.5} {...at(centre(cell), unit)} />
      ))}
      {crosses.map(({ seat, place }) => <DeathCross key={`x${seat}`} cell={place as Cell} unit={unit} size={radius} colour={colourOf(seats[seat]?.player ?? seat)} />)}
      {[...cellsOf(view)].map(([seat, cell]) => (
        <g key={seat} class="cube-player" style={{ transform: moved(centre(cell), unit) }}>
          <circle r={radius} fill={colourOf(seats[seat]?.player ?? seat)} />
          {!small && <text class="cube-sign" y={radius * 0.35} font-size={radius}>{signOf(seats[seat]?.player ?? seat)}</text>}
        </g>
      ))}
    </svg>
  );
}

function EdgeLine({ from, to, unit, behind }: { from: Cell; to: Cell; unit: number; behind: boolean }) {
  const [x1, y1] = flat(from, unit);
  const [x2, y2] = flat(to, unit);
  return <line class={behind ? 'cube-edge behind' : 'cube-edge'} {...{ x1, y1, x2, y2 }} />;
}

function DeathCross({ cell, unit, size, colour }: { cell: Cell; unit: number; size: number; colour: string }) {
  const [x, y] = flat(centre(cell), unit);
  return <path d={`M${x - size} ${y - size}l${2 * size} ${2 * size}m0 ${-2 * size}l${-2 * size} ${2 * size}`} stroke={colour} stroke-width={size / 2} />;
}

function centre([x, y, z]: Cell): Cell {
  return [x + 0.5, y + 0.5, z + 0.5];
}

function scaled([x, y, z]: Cell, edge: number): Cell {
  return [x * edge, y * edge, z * edge];
}

/** x goes to the right and towards us, z to the right and away, y down. */
function flat([x, y, z]: Cell, unit: number): [number, number] {
  const edge = SIZE / unit;
  return [(x + z - edge) * COS * unit, (y - edge / 2 + (x - z) / 2) * unit];
}

function at(cell: Cell, unit: number): { cx: number; cy: number } {
  const [cx, cy] = flat(cell, unit);
  return { cx, cy };
}

function moved(cell: Cell, unit: number): string {
  const [x, y] = flat(cell, unit);
  return `translate(${x.toFixed(2)}px, ${y.toFixed(2)}px)`;
}
