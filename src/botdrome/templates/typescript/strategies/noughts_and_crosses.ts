// Win, block, or take the best free space.
export type View = { you: number; marks: string[]; board: string[][] };
type Space = [number, number];

const LINES: Space[][] = [
  [[0, 0], [0, 1], [0, 2]], [[1, 0], [1, 1], [1, 2]], [[2, 0], [2, 1], [2, 2]],
  [[0, 0], [1, 0], [2, 0]], [[0, 1], [1, 1], [2, 1]], [[0, 2], [1, 2], [2, 2]],
  [[0, 0], [1, 1], [2, 2]], [[0, 2], [1, 1], [2, 0]],
];
const BY_WORTH: Space[] = [[1, 1], [0, 0], [0, 2], [2, 0], [2, 2], [0, 1], [1, 0], [1, 2], [2, 1]];

export function choose(view: View, _seed: number) {
  const mine = view.marks[view.you];
  const theirs = view.marks[1 - view.you];
  const free = BY_WORTH.find(([row, column]) => view.board[row][column] === '');
  return { mark: mine, space: completing(view.board, mine) ?? completing(view.board, theirs) ?? free };
}

// The free space of a line in which the two others have this mark.
function completing(board: string[][], mark: string): Space | undefined {
  for (const line of LINES) {
    const marks = line.map(([row, column]) => board[row][column]);
    if (marks.filter((other) => other === mark).length === 2 && marks.includes('')) {
      return line[marks.indexOf('')];
    }
  }
  return undefined;
}
