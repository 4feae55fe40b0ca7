/** Battlecube: a cube in space that can be turned and sliced; small boards show it flat. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { theme } from '../theme';
import { CubeControls } from './battlecube_controls';
import { FlatCube } from './battlecube_flat';
import type { CubeScene, Slice } from './battlecube_scene';
import { causeInWords, describe, fallen, marks, moveInWords, nameAt, scoresOf, type CubeView } from './battlecube_view';
import type { BoardProps, Cross, Renderer } from './renderer';

const NONE: readonly Cross[] = [];
const AXES = ['x', 'y', 'z'] as const;
const TURN = 0.15;
const TURNS: Record<string, [number, number]> = {
  ArrowLeft: [-TURN, 0], ArrowRight: [TURN, 0], ArrowUp: [0, -TURN], ArrowDown: [0, TURN],
};

function Board(props: BoardProps<CubeView>) {
  const [slice, setSlice] = useState<Slice | null>(null);
  const { view, seats, small, move } = props;
  if (small) return <FlatCube {...props} />;
  return (
    <div class="cube">
      <Space {...props} slice={slice} />
      <SliceChoice edge={view.edge} slice={slice} choose={setSlice} />
      {move && <CubeControls view={view} move={move} />}
      {view.lost.length > 0 && (
        <p class="cube-lost quiet">
          Out: {view.lost.map(({ seat, tick, cause }) => `${nameAt(seats, seat)} (tick ${tick}, ${causeInWords(cause)})`).join('; ')}
        </p>
      )}
    </div>
  );
}

/** The canvas; where the browser has no WebGL, the flat picture. */
function Space(props: BoardProps<CubeView> & { slice: Slice | null }) {
  const { view, before, seats, slice, crosses = NONE } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [scene, setScene] = useState<CubeScene | null>(null);
  const [flat, setFlat] = useState(false);
  useEffect(() => opened(canvas.current!, setScene, () => setFlat(true)), []);
  useEffect(() => scene?.show(view, before, seats, before ? duration(canvas.current!) : 0), [scene, view]);
  useEffect(() => scene?.mark(crosses, seats), [scene, crosses, theme.value]);
  useEffect(() => scene?.slice(slice), [scene, slice]);
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
  return <canvas ref={canvas} class="cube-space" role="img" tabIndex={0} aria-label={words} onKeyDown={turn} />;
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
  help: 'Step with the buttons or the keys A and D (x), W and S (y), Q and E (z). To drop a bomb, enter its cell; the full stop waits.',
};
