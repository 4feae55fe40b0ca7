// Bomb a rival that stood still, otherwise step to the safest cell.
const STEPS = { '+X': [1, 0, 0], '-X': [-1, 0, 0], '+Y': [0, 1, 0], '-Y': [0, -1, 0], '+Z': [0, 0, 1], '-Z': [0, 0, -1] };

export function choose(view) {
  const own = cellOf(view.players.find((player) => player.seat === view.you));
  const rivals = view.players.filter((player) => player.seat !== view.you);
  const still = view.happened.filter((entry) => entry.did === 'nothing' || entry.did === 'bomb').map((entry) => entry.seat);
  const targets = rivals.filter((rival) => still.includes(rival.seat)).map(cellOf);
  const cells = rivals.map(cellOf);
  const plan = Array(view.tasks).fill({ task: 'NOOP' });
  if (targets.length && cells.every((cell) => distance(own, cell) > 1)) {
    const [x, y, z] = targets.reduce((near, cell) => (distance(own, cell) < distance(own, near) ? cell : near));
    plan[0] = { task: 'BOMB', x, y, z };
  } else {
    plan[0] = { task: 'MOVE', direction: bestStep(view, own, cells) };
  }
  return plan;
}

function cellOf({ x, y, z }) {
  return [x, y, z];
}

function bestStep(view, own, rivals) {
  let best;
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
function safety(view, cell, rivals) {
  if (cell.some((place) => place < 0 || place >= view.edge)) {
    return -10000;
  }
  let worth = -cell.reduce((sum, place) => sum + Math.abs(2 * place - view.edge + 1), 0);
  if (view.bombs.some((bomb) => distance(cell, bomb) === 0)) {
    worth -= 5000;
  }
  return worth - 1000 * rivals.filter((rival) => distance(cell, rival) <= 1).length;
}

function distance(one, other) {
  return one.reduce((sum, place, axis) => sum + Math.abs(place - other[axis]), 0);
}
