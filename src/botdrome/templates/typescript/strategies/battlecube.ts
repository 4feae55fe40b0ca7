// Bomb a rival that stood still, otherwise step to the safest cell.
export type View = {
  you: number;
  edge: number;
  tasks: number;
  players: Player[];
  bombs: Cell[];
  happened: { seat: number; did?: string }[];
};
type Cell = [number, number, number];
type Player = { seat: number; x: number; y: number; z: number };
type Task = { task: string; direction?: string; x?: number; y?: number; z?: number };

const STEPS: Record<string, Cell> = { '+X': [1, 0, 0], '-X': [-1, 0, 0], '+Y': [0, 1, 0], '-Y': [0, -1, 0], '+Z': [0, 0, 1], '-Z': [0, 0, -1] };

export function choose(view: View, _seed: number) {
  const own = cellOf(view.players.find((player) => player.seat === view.you)!);
  const rivals = view.players.filter((player) => player.seat !== view.you);
  const still = view.happened.filter((entry) => entry.did === 'nothing' || entry.did === 'bomb').map((entry) => entry.seat);
  const targets = rivals.filter((rival) => still.includes(rival.seat)).map(cellOf);
  const cells = rivals.map(cellOf);
  const plan = Array<Task>(view.tasks).fill({ task: 'NOOP' });
  if (targets.length && cells.every((cell) => distance(own, cell) > 1)) {
    const [x, y, z] = targets.reduce((near, cell) => (distance(own, cell) < distance(own, near) ? cell : near));
    plan[0] = { task: 'BOMB', x, y, z };
  } else {
    plan[0] = { task: 'MOVE', direction: bestStep(view, own, cells) };
  }
  return plan;
}

function cellOf({ x, y, z }: Player): Cell {
  return [x, y, z];
}

function bestStep(view: View, own: Cell, rivals: Cell[]) {
  let best = '+X';
  let bestWorth = -Infinity;
  for (const [direction, step] of Object.entries(STEPS)) {
    const worth = safety(view, own.map((place, axis) => place + step[axis]), rivals);
    if (worth > bestWorth) {
      [best, bestWorth] = [direction, worth];
    }
  }
  return best;
}

// Bombs and the outside are deadly; a cell that a rival can reach is dangerous; the middle is better than the edge.
function safety(view: View, cell: number[], rivals: Cell[]) {
  if (cell.some((place) => place < 0 || place >= view.edge)) {
    return -10000;
  }
  let worth = -cell.reduce((sum, place) => sum + Math.abs(2 * place - view.edge + 1), 0);
  if (view.bombs.some((bomb) => distance(cell, bomb) === 0)) {
    worth -= 5000;
  }
  return worth - 1000 * rivals.filter((rival) => distance(cell, rival) <= 1).length;
}

function distance(one: number[], other: number[]) {
  return one.reduce((sum, place, axis) => sum + Math.abs(place - other[axis]), 0);
}
