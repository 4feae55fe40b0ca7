// The cell that adds most to its own rows and takes most from the other's.
export type View = { you: number; size: number; board: string[] };
type Run = { stones: number; open: number };

const DIRECTIONS = [[1, 0], [0, 1], [1, 1], [1, -1]];

export function choose(view: View, _seed: number) {
  const { board, size, you } = view;
  let best: { x: number; y: number } | undefined;
  let bestWorth = -1;
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      if (board[y][x] !== '.') {
        continue;
      }
      const fromMiddle = Math.abs(2 * x + 1 - size) + Math.abs(2 * y + 1 - size);
      const worth = 3 * worthOf(board, x, y, 'XO'[you]) + 2 * worthOf(board, x, y, 'OX'[you]) + size - fromMiddle / 2;
      if (worth > bestWorth) {
        [best, bestWorth] = [{ x, y }, worth];
      }
    }
  }
  return best;
}

// The longer the rows through this cell would be, and the more open, the better.
function worthOf(board: string[], x: number, y: number, mark: string) {
  let total = 0;
  for (const [dx, dy] of DIRECTIONS) {
    const ahead = run(board, x, y, dx, dy, mark);
    const behind = run(board, x, y, -dx, -dy, mark);
    const length = Math.min(ahead.stones + behind.stones + 1, 5);
    if (length === 5 || ahead.open + behind.open) {
      total += 10 ** length * (1 + ahead.open + behind.open);
    }
  }
  return total;
}

// The stones of this mark in a row from here, and whether the cell after them is free.
function run(board: string[], x: number, y: number, dx: number, dy: number, mark: string): Run {
  let stones = 0;
  for (;;) {
    x += dx;
    y += dy;
    const cell = board[y]?.[x];
    if (cell !== mark) {
      return { stones, open: cell === '.' ? 1 : 0 };
    }
    stones++;
  }
}
