/** How a person plays Battlecube: steps by buttons and keys, bombs by their cell, as many tasks as a plan has. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { CubeView } from './battlecube_view';
import { moveInWords } from './battlecube_view';

type Task = { task: 'MOVE'; direction: string } | { task: 'NOOP' } | { task: 'BOMB'; x: number; y: number; z: number };

const STEPS = [
  ['-X', 'Left', '←', 'a'], ['+X', 'Right', '→', 'd'], ['-Y', 'Up', '↑', 'w'],
  ['+Y', 'Down', '↓', 's'], ['-Z', 'Nearer', '↙', 'q'], ['+Z', 'Farther', '↗', 'e'],
] as const;
const KEYS: Record<string, Task> = {
  ...Object.fromEntries(STEPS.map(([direction, , , key]) => [key, { task: 'MOVE', direction }])),
  '.': { task: 'NOOP' },
};

export function CubeControls({ view, move }: { view: CubeView; move: (raw: unknown) => void }) {
  const mine = view.you !== null && view.toMove.includes(view.you);
  const [plan, setPlan] = useState<Task[]>([]);
  useEffect(() => setPlan([]), [view.tick]);
  const add = (task: Task) => {
    const longer = [...plan, task];
    if (longer.length >= view.tasks) move(longer);
    else setPlan(longer);
  };
  useKeys(mine, add);
  return (
    <fieldset class="cube-controls" disabled={!mine}>
      <legend>{view.tasks > 1 ? `Task ${plan.length + 1} of ${view.tasks}` : 'Your move'}</legend>
      <div class="cube-steps">
        {STEPS.map(([direction, words, arrow, key]) => (
          <button key={direction} type="button" aria-label={`${words}, ${direction}`} title={`${words} (${key.toUpperCase()})`} onClick={() => add({ task: 'MOVE', direction })}>
            {arrow} {direction}
          </button>
        ))}
        <button type="button" onClick={() => add({ task: 'NOOP' })}>Wait</button>
      </div>
      <BombForm edge={view.edge} drop={(x, y, z) => add({ task: 'BOMB', x, y, z })} />
      {plan.length > 0 && <p>Planned: {moveInWords(plan)} <button type="button" onClick={() => setPlan([])}>Start over</button></p>}
    </fieldset>
  );
}

function BombForm({ edge, drop }: { edge: number; drop: (x: number, y: number, z: number) => void }) {
  const [cell, setCell] = useState<[number, number, number]>([0, 0, 0]);
  const set = (axis: number, value: number) => setCell(cell.map((old, i) => (i === axis ? value : old)) as [number, number, number]);
  return (
    <form class="cube-bombing" onSubmit={(event) => { event.preventDefault(); drop(...cell); }}>
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

/** Keys work anywhere on the page but in fields. */
function useKeys(on: boolean, add: (task: Task) => void): void {
  const latest = useRef(add);
  latest.current = add;
  useLayoutEffect(() => {
    if (!on) return;
    const press = (event: KeyboardEvent) => {
      const task = KEYS[event.key.toLowerCase()];
      const typing = event.target instanceof Element && event.target.closest('input, select, textarea');
      if (!task || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      latest.current(task);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [on]);
}
