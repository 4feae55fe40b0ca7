/** QR codes: bytes, error correction level M, versions 1 to 10 (213 bytes at most). Enough for an address, and no package to keep. */

/** By version: blocks and data bytes of the short ones, blocks and data bytes of the long ones, and error correction bytes of each. */
const BLOCKS: readonly (readonly [number, number, number, number, number])[] = [
  [1, 16, 0, 0, 10], [1, 28, 0, 0, 16], [1, 44, 0, 0, 26], [2, 32, 0, 0, 18], [2, 43, 0, 0, 24],
  [4, 27, 0, 0, 16], [4, 31, 0, 0, 18], [2, 38, 2, 39, 22], [3, 36, 2, 37, 22], [4, 43, 1, 44, 26],
];
/** By version: where the small squares are, across and down. */
const ALIGNMENT: readonly (readonly number[])[] = [
  [], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50],
];
const MASKS: readonly ((row: number, column: number) => boolean)[] = [
  (r, c) => (r + c) % 2 === 0,
  (r) => r % 2 === 0,
  (_, c) => c % 3 === 0,
  (r, c) => (r + c) % 3 === 0,
  (r, c) => (Math.floor(r / 2) + Math.floor(c / 3)) % 2 === 0,
  (r, c) => ((r * c) % 2) + ((r * c) % 3) === 0,
  (r, c) => (((r * c) % 2) + ((r * c) % 3)) % 2 === 0,
  (r, c) => (((r + c) % 2) + ((r * c) % 3)) % 2 === 0,
];

/** Rows of modules, true being dark; null: the text is too long. */
export function qrCode(text: string): boolean[][] | null {
  const bytes = new TextEncoder().encode(text);
  const version = BLOCKS.findIndex((_, at) => bytes.length <= capacity(at + 1)) + 1;
  if (version === 0) return null;
  const stream = interleaved(version, padded(version, bytes));
  const masked = MASKS.map((_, mask) => drawn(version, stream, mask));
  const costs = masked.map(penalty);
  return masked[costs.indexOf(Math.min(...costs))] ?? null;
}

function dataBytes(version: number): number {
  const [short, shortData, long, longData] = BLOCKS[version - 1]!;
  return short * shortData + long * longData;
}

/** The bytes that count how long the text is. */
function counters(version: number): number {
  return version < 10 ? 1 : 2;
}

function capacity(version: number): number {
  return dataBytes(version) - counters(version) - 1;
}

/** Mode, length, text, and what fills the rest. */
function padded(version: number, bytes: Uint8Array): number[] {
  const bits: number[] = [];
  const put = (value: number, length: number) => {
    for (let at = length - 1; at >= 0; at--) bits.push((value >> at) & 1);
  };
  put(4, 4);
  put(bytes.length, 8 * counters(version));
  bytes.forEach((byte) => put(byte, 8));
  put(0, 4);
  const data = Array.from({ length: Math.floor(bits.length / 8) }, (_, at) => parseInt(bits.slice(8 * at, 8 * at + 8).join(''), 2));
  for (let fill = 0xec; data.length < dataBytes(version); fill ^= 0xfd) data.push(fill);
  return data;
}

/** The blocks' bytes by turns: first of the data, then of the error correction. */
function interleaved(version: number, data: number[]): number[] {
  const [short, shortData, long, longData, extra] = BLOCKS[version - 1]!;
  const lengths = [...Array<number>(short).fill(shortData), ...Array<number>(long).fill(longData)];
  let start = 0;
  const blocks = lengths.map((length) => data.slice(start, (start += length)));
  const checks = blocks.map((block) => remainder(block, extra));
  return [...byTurns(blocks), ...byTurns(checks)];
}

function byTurns(blocks: number[][]): number[] {
  const longest = Math.max(...blocks.map((block) => block.length));
  return Array.from({ length: longest }, (_, at) => blocks.flatMap((block) => block.slice(at, at + 1))).flat();
}

/** Reed and Solomon's, over the bytes with the polynomial 0x11d. */
function remainder(data: number[], length: number): number[] {
  let generator = [1];
  for (let power = 0, root = 1; power < length; power++, root = times(root, 2)) {
    generator = [...generator, 0].map((value, at) => value ^ times(generator[at - 1] ?? 0, root));
  }
  const rest = [...data, ...Array<number>(length).fill(0)];
  for (let at = 0; at < data.length; at++) {
    const factor = rest[at]!;
    generator.forEach((value, offset) => (rest[at + offset]! ^= times(value, factor)));
  }
  return rest.slice(data.length);
}

function times(one: number, two: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >> 7) * 0x11d);
    product ^= ((two >> bit) & 1) * one;
  }
  return product;
}

function drawn(version: number, stream: number[], mask: number): boolean[][] {
  const size = 17 + 4 * version;
  const grid: (boolean | null)[][] = Array.from({ length: size }, () => Array<boolean | null>(size).fill(null));
  drawSquares(grid, version);
  drawFormat(grid, mask);
  if (version >= 7) drawVersion(grid, version);
  drawData(grid, stream, MASKS[mask]!);
  return grid as boolean[][];
}

function drawSquares(grid: (boolean | null)[][], version: number): void {
  const size = grid.length;
  for (let at = 0; at < size; at++) grid[6]![at] = grid[at]![6] = at % 2 === 0;
  for (const [row, column] of [[3, 3], [3, size - 4], [size - 4, 3]] as const) drawSquare(grid, row, column, 4);
  const places = ALIGNMENT[version - 1]!;
  const last = places.length - 1;
  places.forEach((row, r) => places.forEach((column, c) => {
    if (!(r === 0 && c === 0) && !(r === 0 && c === last) && !(r === last && c === 0)) drawSquare(grid, row, column, 2);
  }));
}

/** Rings around a dark middle; the large ones have a light ring outside. */
function drawSquare(grid: (boolean | null)[][], row: number, column: number, reach: number): void {
  for (let r = -reach; r <= reach; r++) {
    for (let c = -reach; c <= reach; c++) {
      const line = grid[row + r];
      const ring = Math.max(Math.abs(r), Math.abs(c));
      if (line && line[column + c] !== undefined) line[column + c] = reach === 4 ? ring !== 2 && ring !== 4 : ring !== 1;
    }
  }
}

/** Level and mask, twice, and the module that is always dark. */
function drawFormat(grid: (boolean | null)[][], mask: number): void {
  const size = grid.length;
  const bits = ((mask << 10) | checked(mask << 10, 0x537, 10)) ^ 0x5412;
  const bit = (at: number) => ((bits >> at) & 1) === 1;
  for (let at = 0; at < 15; at++) {
    const down = at < 6 ? at : at < 8 ? at + 1 : size - 15 + at;
    const across = at < 8 ? size - 1 - at : at === 8 ? 7 : 14 - at;
    grid[down]![8] = bit(at);
    grid[8]![across] = bit(at);
  }
  grid[size - 8]![8] = true;
}

function drawVersion(grid: (boolean | null)[][], version: number): void {
  const size = grid.length;
  const bits = (version << 12) | checked(version << 12, 0x1f25, 12);
  for (let at = 0; at < 18; at++) {
    const [far, near] = [size - 11 + (at % 3), Math.floor(at / 3)];
    grid[far]![near] = grid[near]![far] = ((bits >> at) & 1) === 1;
  }
}

/** The remainder of a division without carries. */
function checked(value: number, divisor: number, bits: number): number {
  for (let at = 31 - Math.clz32(value); at >= bits; at = 31 - Math.clz32(value)) value ^= divisor << (at - bits);
  return value;
}

/** In columns of two, from the right, up and down by turns. */
function drawData(grid: (boolean | null)[][], stream: number[], masked: (row: number, column: number) => boolean): void {
  const size = grid.length;
  let at = 0;
  for (let right = size - 1, up = true; right > 0; right -= 2, up = !up) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step++) {
      const row = up ? size - 1 - step : step;
      for (const column of [right, right - 1]) {
        if (grid[row]![column] !== null) continue;
        const bit = ((stream[at >> 3] ?? 0) >> (7 - (at & 7))) & 1;
        grid[row]![column] = (bit === 1) !== masked(row, column);
        at++;
      }
    }
  }
}

/** How hard a code is to read, by the four rules of the standard. */
function penalty(grid: boolean[][]): number {
  const columns = grid.map((_, at) => grid.map((row) => row[at]!));
  const lines = [...grid, ...columns].map((line) => line.map(Number).join(''));
  let cost = 0;
  for (const line of lines) {
    for (const run of line.match(/0{5,}|1{5,}/g) ?? []) cost += run.length - 2;
    for (let at = 0; at + 11 <= line.length; at++) if (['10111010000', '00001011101'].includes(line.slice(at, at + 11))) cost += 40;
  }
  for (let row = 1; row < grid.length; row++) {
    for (let column = 1; column < grid.length; column++) {
      const dark = Number(grid[row]![column]) + Number(grid[row - 1]![column]) + Number(grid[row]![column - 1]) + Number(grid[row - 1]![column - 1]);
      if (dark % 4 === 0) cost += 3;
    }
  }
  const dark = grid.flat().filter(Boolean).length / grid.length ** 2;
  return cost + 10 * Math.floor(Math.abs(dark * 100 - 50) / 5);
}
