/** Fleets of battleship: placing, moving and turning boats, and random fleets. Pure. */

export interface Boat {
  letter: string;
  length: number;
}

/** A boat with its place: its first square from the left or the top, and its direction. */
export interface PlacedBoat extends Boat {
  x: number;
  y: number;
  down: boolean;
}

export interface Sea {
  width: number;
  height: number;
}

type Square = readonly [x: number, y: number];

const RESTARTS = 50;

/** The boats of `["A5", "B4"]`. */
export function boatsOf(names: readonly string[]): Boat[] {
  return names.map((name) => ({ letter: name.slice(0, 1), length: Number(name.slice(1)) }));
}

export function squaresOf({ x, y, length, down }: PlacedBoat): Square[] {
  return Array.from({ length }, (_, at) => (down ? [x, y + at] : [x + at, y]) as Square);
}

/** The boats of a board of letters, whether they were hit (lower case) or not. */
export function boatsIn(rows: readonly string[]): PlacedBoat[] {
  const found = new Map<string, PlacedBoat>();
  rows.forEach((row, y) => [...row].forEach((mark, x) => {
    if (!/[a-w]/i.test(mark)) return;
    const letter = mark.toUpperCase();
    const boat = found.get(letter);
    if (!boat) found.set(letter, { letter, length: 1, x, y, down: false });
    else found.set(letter, { ...boat, length: boat.length + 1, down: x === boat.x });
  }));
  return [...found.values()];
}

/** Whether all squares of a boat were hit. */
export function isSunk(boat: PlacedBoat, board: readonly string[]): boolean {
  return squaresOf(boat).every(([x, y]) => board[y]?.[x] === 'X');
}

/** The rows of a fleet, as a move has them. */
export function rowsOf(fleet: readonly PlacedBoat[], { width, height }: Sea): string[] {
  const rows = Array.from({ length: height }, () => Array<string>(width).fill('.'));
  for (const boat of fleet) for (const [x, y] of squaresOf(boat)) rows[y]![x] = boat.letter;
  return rows.map((row) => row.join(''));
}

/** The letters of the boats that lie on squares of another one. */
export function overlapping(fleet: readonly PlacedBoat[]): string[] {
  const taken = new Map<string, string>();
  const letters = new Set<string>();
  for (const boat of fleet) {
    for (const square of squaresOf(boat)) {
      const other = taken.get(square.join());
      if (other) letters.add(other).add(boat.letter);
      taken.set(square.join(), boat.letter);
    }
  }
  return [...letters].sort();
}

/** The boat at another place, or at the nearest one where it is on the board. */
export function movedTo(boat: PlacedBoat, x: number, y: number, { width, height }: Sea): PlacedBoat {
  const [right, bottom] = boat.down ? [width - 1, height - boat.length] : [width - boat.length, height - 1];
  return { ...boat, x: Math.max(0, Math.min(right, x)), y: Math.max(0, Math.min(bottom, y)) };
}

/** The boat turned; as it is where the board is too narrow for that. */
export function turned(boat: PlacedBoat, sea: Sea): PlacedBoat {
  if (boat.length > (boat.down ? sea.width : sea.height)) return boat;
  return movedTo({ ...boat, down: !boat.down }, boat.x, boat.y, sea);
}

/** Boat by boat, the longest first, each in any berth that the others left free.
 *
 * If no place is left for a boat, all boats are placed again; after some attempts they are packed line by line.
 */
export function randomFleet(boats: readonly Boat[], sea: Sea, random: () => number): PlacedBoat[] {
  const byLength = boats.toSorted((one, other) => other.length - one.length);
  for (let attempt = 0; attempt < RESTARTS; attempt++) {
    const fleet = scattered(byLength, sea, random);
    if (fleet) return fleet;
  }
  return packed(byLength, sea);
}

function scattered(boats: readonly Boat[], sea: Sea, random: () => number): PlacedBoat[] | null {
  const fleet: PlacedBoat[] = [];
  const taken = new Set<string>();
  for (const boat of boats) {
    const free = berths(boat, sea).filter((berth) => squaresOf(berth).every((square) => !taken.has(square.join())));
    const berth = free[Math.floor(random() * free.length)];
    if (!berth) return null;
    fleet.push(berth);
    for (const square of squaresOf(berth)) taken.add(square.join());
  }
  return fleet;
}

function berths(boat: Boat, { width, height }: Sea): PlacedBoat[] {
  const places: PlacedBoat[] = [];
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (x + boat.length <= width) places.push({ ...boat, x, y, down: false });
      if (y + boat.length <= height) places.push({ ...boat, x, y, down: true });
    }
  }
  return places;
}

/** Each boat in the first line along the longer side that has room for it; boats cover at most half of a board, so all have room. */
export function packed(boats: readonly Boat[], { width, height }: Sea): PlacedBoat[] {
  const [long, down] = width >= height ? [width, false] : [height, true];
  const used = Array<number>(Math.min(width, height)).fill(0);
  return boats.map((boat) => {
    const line = used.findIndex((length) => length + boat.length <= long);
    const at = used[line]!;
    used[line] = at + boat.length;
    return { ...boat, down, x: down ? line : at, y: down ? at : line };
  });
}
