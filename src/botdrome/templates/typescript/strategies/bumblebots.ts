// Each drone flies to the nearest flower that no other drone of the bot wants.
export type View = {
  you: number;
  board: (number | null)[][];
  territory: number[];
  drones: Record<string, { position: Hex }>[];
};
type Hex = [number, number];
type Way = { hex: Hex; direction?: string; first?: Hex };

const STEPS: Record<string, Hex> = { UL: [-1, -1], UR: [-1, 0], R: [0, 1], DR: [1, 1], DL: [1, 0], L: [0, -1] };
const FLOWER = 2;

export function choose(view: View, _seed: number) {
  const closed = view.drones.flatMap((swarm) => Object.values(swarm)).map((drone) => drone.position);
  const orders: Record<string, string> = {};
  const sought: Hex[] = [];
  for (const [name, drone] of Object.entries(view.drones[view.you])) {
    const way = wayToFlower(view, drone.position, closed, sought);
    if (way?.direction && way.first) {
      orders[name] = way.direction;
      closed.push(way.first);
      sought.push(way.hex);
    }
  }
  return { orders };
}

function has(hexes: Hex[], [row, column]: Hex) {
  return hexes.some((hex) => hex[0] === row && hex[1] === column);
}

// The shortest way to a flower: the first direction, the hex it leads to, and the flower; undefined if there is no way.
function wayToFlower(view: View, start: Hex, occupied: Hex[], sought: Hex[]): Way | undefined {
  const open: (number | null)[] = [0, FLOWER, view.territory[view.you]];
  const closed = [...occupied, start];
  const queue: Way[] = [{ hex: start }];
  for (const way of queue) {
    const [row, column] = way.hex;
    if (way.first && view.board[row][column] === FLOWER && !has(sought, way.hex)) {
      return way;
    }
    for (const [direction, [down, right]] of Object.entries(STEPS)) {
      const beside: Hex = [row + down, column + right];
      if (open.includes(view.board[beside[0]][beside[1]]) && !has(closed, beside)) {
        closed.push(beside);
        queue.push({ hex: beside, direction: way.direction ?? direction, first: way.first ?? beside });
      }
    }
  }
  return undefined;
}
