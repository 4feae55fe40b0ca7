/** How a person plays Battlecube: steps by buttons and keys, bombs by the mouse or by their cell, as many tasks as a plan has. */
import { useEffect, useState } from 'preact/hooks';
import { moveInWords, type Cell, type CubeView } from './battlecube_view';
import { useKeys } from './controls';

type Task = { task: 'MOVE'; direction: string } | { task: 'NOOP' } | { task: 'BOMB'; x: number; y: number; z: number };

const STEPS = [
  ['-X', 'Left', '←', 'a'], ['+X', 'Right', '→', 'd'], ['-Y', 'Up', '↑', 'w'],
  ['+Y', 'Down', '↓', 's'], ['-Z', 'Nearer', '↙', 'q'], ['+Z', 'Farther', '↗', 'e'],
] as const;
const KEYS: Record<string, Task> = {
  ...Object.fromEntries(STEPS.map(([direction, , , key]) => [key, { task: 'MOVE', direction }])),
  '.': { task: 'NOOP' },
};

/** The tasks of this tick so far. */
export interface Plan {
  mine: boolean;
  tasks: readonly Task[];
  add: (task: Task) => void;
  clear: () => void;
}

/** The move is sent when the plan has all its tasks. */
export function usePlan(view: CubeView, move: ((raw: unknown) => void) | undefined): Plan {
  const [tasks, setTasks] = useState<readonly Task[]>([]);
  const clear = () => setTasks([]);
  useEffect(clear, [view.tick]);
  const add = (task: Task) => {
    const longer = [...tasks, task];
    if (longer.length >= view.tasks) move?.(longer);
    else setTasks(longer);
  };
  return { mine: move !== undefined && view.you !== null && view.toMove.includes(view.you), tasks, add, clear };
}

interface ControlsProps {
  view: CubeView;
  plan: Plan;
  /** The cell of the next bomb. */
  cell: Cell;
  setCell: (cell: Cell) => void;
  drop: (cell: Cell) => void;
  aiming: boolean;
  aim: (on: boolean) => void;
}

export function CubeControls({ view, plan, cell, setCell, drop, aiming, aim }: ControlsProps) {
  const { mine, tasks, add, clear } = plan;
  useKeys(mine, ({ key }) => {
    const task = KEYS[key.toLowerCase()];
    if (task) add(task);
    else if (key.toLowerCase() === 'b') aim(!aiming);
    else return false;
    return true;
  });
  return (
    <fieldset class="cube-controls" disabled={!mine}>
      <legend>{view.tasks > 1 ? `Task ${tasks.length + 1} of ${view.tasks}` : 'Your move'}</legend>
      <div class="cube-steps">
        {STEPS.map(([direction, words, arrow, key]) => (
          <button key={direction} type="button" aria-label={`${words}, ${direction}`} title={`${words} (${key.toUpperCase()})`} onClick={() => add({ task: 'MOVE', direction })}>
            {arrow} {direction}
          </button>
        ))}
        <button type="button" onClick={() => add({ task: 'NOOP' })}>Wait</button>
      </div>
      <div class="cube-bombing">
        <button type="button" aria-pressed={aiming} title="Aim a bomb (B)" onClick={() => aim(!aiming)}>Aim in the cube</button>
        <BombForm edge={view.edge} cell={cell} setCell={setCell} drop={drop} />
      </div>
      {aiming && <p class="quiet">Point at a cell of the layer and click. The slider changes the layer; dragging turns the cube.</p>}
      {tasks.length > 0 && <p>Planned: {moveInWords(tasks)} <button type="button" onClick={clear}>Start over</button></p>}
    </fieldset>
  );
}

function BombForm({ edge, cell, setCell, drop }: { edge: number; cell: Cell; setCell: (cell: Cell) => void; drop: (cell: Cell) => void }) {
  const set = (axis: number, value: number) => setCell(cell.map((old, i) => (i === axis ? value : old)) as unknown as Cell);
  return (
    <form class="cube-bombing" onSubmit={(event) => { event.preventDefault(); drop(cell); }}>
      {['x', 'y', 'z'].map((name, axis) => (
        <label key={name}>
          {name}
          <input type="number" required min={0} max={edge - 1} value={cell[axis]} aria-label={`Bomb ${name}`} onInput={(event) => set(axis, event.currentTarget.valueAsNumber)} />
        </label>
      ))}
      <button type="submit">Drop a bomb</button>
    </form>
  );
}
