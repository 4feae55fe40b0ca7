// Shoot beside hits, otherwise at every other square.
export type View = {
  you: number;
  phase: string;
  width: number;
  height: number;
  boats: string[];
  boards: string[][];
  turns: number[];
};
type Random = (limit: number) => number;
type Move = { board: string[] } | { target: number; x: number; y: number } | { skip: true };

export function choose(view: View, seed: number): Move {
  const random = numbers(seed + view.turns[view.you]);
  return view.phase === 'placement' ? place(view, random) : shoot(view, random);
}

// Whole numbers from 0 to below a limit that look random: the same for the same seed.
function numbers(seed: number): Random {
  let state = (Math.abs(seed) % 2147483646) + 1;
  return (limit) => {
    state = (state * 16807) % 2147483647;
    return Math.floor(state / 8) % limit;
  };
}

// Put each boat on free squares at random.
function place(view: View, random: Random): Move {
  const board = Array.from({ length: view.height }, () => Array<string>(view.width).fill('.'));
  for (const boat of view.boats) {
    let squares: [number, number][];
    do {
      const [x, y, across] = [random(view.width), random(view.height), random(2)];
      squares = Array.from({ length: Number(boat.slice(1)) }, (_, step): [number, number] => [x + across * step, y + (1 - across) * step]);
    } while (!squares.every(([x, y]) => board[y]?.[x] === '.'));
    for (const [x, y] of squares) {
      board[y][x] = boat[0];
    }
  }
  return { board: board.map((row) => row.join('')) };
}

function shoot(view: View, random: Random): Move {
  let best: Move = { skip: true };
  let bestWorth = 0;
  view.boards.forEach((board, target) => {
    for (let y = 0; y < view.height && target !== view.you; y++) {
      for (let x = 0; x < view.width; x++) {
        const worth = 100 * worthOf(board, x, y) + random(100);
        if (board[y][x] === '.' && worth > bestWorth) {
          [best, bestWorth] = [{ target, x, y }, worth];
        }
      }
    }
  });
  return best;
}

// Squares that continue a row of hits come first, then squares beside a hit, then every other square.
function worthOf(board: string[], x: number, y: number) {
  let worth = 1 + ((x + y) % 2);
  for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
    if (board[y + dy]?.[x + dx] === 'X') {
      worth += board[y + 2 * dy]?.[x + 2 * dx] === 'X' ? 20 : 5;
    }
  }
  return worth;
}
