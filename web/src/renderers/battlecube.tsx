/** Battlecube: a cube in space that can be turned and sliced; small boards show it flat. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { theme } from '../theme';
import { CubeControls, usePlan } from './battlecube_controls';
import { FlatCube } from './battlecube_flat';
import type { CubeScene, Slice } from './battlecube_scene';
import { causeInWords, cellsOf, describe, fallen, marks, moveInWords, nameAt, scoresOf, type Cell, type CubeView } from './battlecube_view';
import type { BoardProps, Cross, Renderer } from './renderer';

const NONE: readonly Cross[] = [];
const AXES = ['x', 'y', 'z'] as const;
/** Pixels that a pointer may move in a click; beyond, it turns the cube. */
const TAP = 6;
const TURN = 0.15;
const TURNS: Record<string, [number, number]> = {
  ArrowLeft: [-TURN, 0], ArrowRight: [TURN, 0], ArrowUp: [0, -TURN], ArrowDown: [0, TURN],
};

function Board(props: BoardProps<CubeView>) {
  return props.small ? <FlatCube {...props} /> : <LargeCube {...props} />;
}

function LargeCube(props: BoardProps<CubeView>) {
  const { view, seats, move } = props;
  const [slice, setSlice] = useState<Slice | null>(null);
  const [aiming, setAiming] = useState(false);
  const [cell, setCell] = useState<Cell>([0, 0, 0]);
  const plan = usePlan(view, move);
  const aim = (on: boolean) => {
    const target = nearest(view);
    setAiming(on);
    setCell(on ? target : cell);
    setSlice(on ? { axis: slice?.axis ?? 2, layer: target[slice?.axis ?? 2] } : null);
  };
  /** While a bomb is aimed, its cell is in the slice. */
  const chooseCell = (chosen: Cell) => {
    setCell(chosen);
    if (aiming && slice && Number.isInteger(chosen[slice.axis])) setSlice({ ...slice, layer: chosen[slice.axis] });
  };
  const chooseSlice = (chosen: Slice | null) => {
    setSlice(chosen);
    setAiming(aiming && chosen !== null);
    if (aiming && chosen) setCell(cell.map((part, axis) => (axis === chosen.axis ? chosen.layer : part)) as unknown as Cell);
  };
  const drop = ([x, y, z]: Cell) => plan.add({ task: 'BOMB', x, y, z });
  return (
    <div class="cube">
      <Space {...props} slice={slice} aim={move && aiming && plan.mine ? { cell, choose: setCell, drop } : null} />
      <SliceChoice edge={view.edge} slice={slice} choose={chooseSlice} />
      {move && <CubeControls view={view} plan={plan} cell={cell} setCell={chooseCell} drop={drop} aiming={aiming} aim={aim} />}
      {view.lost.length > 0 && (
        <p class="cube-lost quiet">
          Out: {view.lost.map(({ seat, tick, cause }) => `${nameAt(seats, seat)} (tick ${tick}, ${causeInWords(cause)})`).join('; ')}
        </p>
      )}
    </div>
  );
}

/** A bomb that is aimed in the cube: with the mouse at its cell, a click drops it; on a touch screen, the second tap on a cell does. */
interface Aim {
  cell: Cell;
  choose: (cell: Cell) => void;
  drop: (cell: Cell) => void;
}

/** The canvas; where the browser has no WebGL, the flat picture. */
function Space(props: BoardProps<CubeView> & { slice: Slice | null; aim: Aim | null }) {
  const { view, before, seats, slice, aim, crosses = NONE } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [scene, setScene] = useState<CubeScene | null>(null);
  const [flat, setFlat] = useState(false);
  useEffect(() => opened(canvas.current!, setScene, () => setFlat(true)), []);
  useEffect(() => scene?.show(view, before, seats, before ? duration(canvas.current!) : 0), [scene, view]);
  useEffect(() => scene?.mark(crosses, seats), [scene, crosses, theme.value]);
  useEffect(() => scene?.slice(slice), [scene, slice]);
  useEffect(() => scene?.aim(aim && aim.cell), [scene, slice, aim?.cell]);
  const pointing = usePointing(scene, aim);
  useEffect(() => scene?.recolour(seats), [theme.value]);
  if (flat) return <FlatCube {...props} />;
  const turn = (event: KeyboardEvent) => {
    const by = TURNS[event.key];
    if (!by || !event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    scene?.turn(...by);
  };
  const words = `The cube. Drag to turn it, or use Shift with the arrow keys. ${describe(view, seats)}`;
  return <canvas ref={canvas} class={aim ? 'cube-space aiming' : 'cube-space'} role="img" tabIndex={0} aria-label={words} onKeyDown={turn} {...pointing} />;
}

function usePointing(scene: CubeScene | null, aim: Aim | null) {
  const down = useRef<{ x: number; y: number } | null>(null);
  const at = ({ offsetX, offsetY }: PointerEvent) => (aim && scene?.cellAt(offsetX, offsetY)) ?? null;
  return {
    onPointerDown: ({ offsetX, offsetY }: PointerEvent) => void (down.current = { x: offsetX, y: offsetY }),
    onPointerMove: (event: PointerEvent) => {
      const cell = event.buttons ? null : at(event);
      if (cell && cell.join() !== aim?.cell.join()) aim?.choose(cell);
    },
    onPointerUp: (event: PointerEvent) => {
      const from = down.current;
      const cell = from && Math.hypot(event.offsetX - from.x, event.offsetY - from.y) < TAP ? at(event) : null;
      if (!cell || !aim) return;
      if (event.pointerType === 'mouse' || cell.join() === aim.cell.join()) aim.drop(cell);
      else aim.choose(cell);
    },
  };
}

/** The cell of the nearest opponent. */
function nearest(view: CubeView): Cell {
  const cells = cellsOf(view);
  const own = cells.get(view.you ?? -1) ?? [0, 0, 0];
  const distance = (cell: Cell) => cell.reduce((sum, place, axis) => sum + Math.abs(place - own[axis]!), 0);
  const others = [...cells].filter(([seat]) => seat !== view.you).map(([, cell]) => cell);
  return others.sort((one, other) => distance(one) - distance(other))[0] ?? own;
}

/** Load three.js, keep the canvas as large as its place, and release everything at the end. */
function opened(canvas: HTMLCanvasElement, there: (scene: CubeScene) => void, failed: () => void): () => void {
  let scene: CubeScene | null = null;
  let wanted = true;
  const fit = () => scene?.resize(canvas.clientWidth || 1, canvas.clientHeight || 1);
  const sizes = new ResizeObserver(fit);
  const begin = (Scene: typeof CubeScene) => {
    if (!wanted) return;
    scene = new Scene(canvas);
    fit();
    sizes.observe(canvas);
    there(scene);
  };
  import('./battlecube_scene').then((loaded) => begin(loaded.CubeScene)).catch(() => wanted && failed());
  return () => {
    wanted = false;
    sizes.disconnect();
    scene?.dispose();
  };
}

/** The duration of a step on screen, which the viewer sets in CSS; 0 for users that prefer less motion. */
function duration(canvas: HTMLCanvasElement): number {
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return 0;
  const value = getComputedStyle(canvas).getPropertyValue('--step-time').trim();
  const number = parseFloat(value);
  if (Number.isNaN(number)) return 200;
  return value.endsWith('ms') ? number : number * 1000;
}

function SliceChoice({ edge, slice, choose }: { edge: number; slice: Slice | null; choose: (slice: Slice | null) => void }) {
  const axis = slice?.axis ?? 2;
  const layer = Math.min(slice?.layer ?? 0, edge - 1);
  return (
    <div class="cube-slices">
      <label>
        <input type="checkbox" checked={slice !== null} onChange={(event) => choose(event.currentTarget.checked ? { axis, layer } : null)} />
        One slice
      </label>
      {slice && (
        <>
          <select aria-label="Axis of the slice" value={axis} onChange={(event) => choose({ axis: Number(event.currentTarget.value) as 0 | 1 | 2, layer })}>
            {AXES.map((name, i) => <option key={name} value={i}>{name}</option>)}
          </select>
          <input type="range" aria-label="Layer" min={0} max={edge - 1} value={layer} onInput={(event) => choose({ axis, layer: Number(event.currentTarget.value) })} />
          <output>{AXES[axis]} = {layer}</output>
        </>
      )}
    </div>
  );
}

export const battlecube: Renderer<CubeView> = {
  Board,
  describe,
  scores: scoresOf,
  marks,
  fallen,
  moveInWords,
  silent: () => 'Nobody moves.',
  help: 'Step with the buttons or the keys A and D (x), W and S (y), Q and E (z). B aims a bomb: point at a cell of the layer and click, or type the cell. The full stop waits.',
};
