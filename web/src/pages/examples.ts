/** Example bots: the shortest program for each game that plays by the rules. A test of the server runs them. */
import { own } from '../own';

const EXAMPLES: Record<string, string> = {
  'noughts-and-crosses': `from random import choice

def bot(view):
    free = [[r, c] for r in range(3) for c in range(3) if not view["board"][r][c]]
    return {"mark": view["marks"][view["you"]], "space": choice(free)}
`,
  gomoku: `from random import choice

def bot(view):
    board = view["board"]
    free = [(x, y) for y, row in enumerate(board) for x, cell in enumerate(row) if cell == "."]
    x, y = choice(free)
    return {"x": x, "y": y}
`,
  battleship: `from random import choice

def bot(view):
    width, height = view["width"], view["height"]
    if view["phase"] == "placement":
        rows = [(boat[0] * int(boat[1:])).ljust(width, ".") for boat in view["boats"]]
        return {"board": "".join(rows).ljust(width * height, ".")}
    others = [seat for seat in range(len(view["boards"])) if seat != view["you"]]
    free = [(seat, x, y) for seat in others for y in range(height) for x in range(width)
            if view["boards"][seat][y][x] == "."]
    target, x, y = choice(free)
    return {"target": target, "x": x, "y": y}
`,
  bumblebots: `from random import choice

def bot(view):
    mine = view["drones"][view["you"]]
    return {"orders": {name: choice(["UL", "UR", "R", "DR", "DL", "L"]) for name in mine}}
`,
  battlecube: `from random import choice

def bot(view):
    me = next(player for player in view["players"] if player["seat"] == view["you"])
    last = view["edge"] - 1
    steps = [sign + axis.upper() for axis in "xyz" for sign, wall in (("-", 0), ("+", last)) if me[axis] != wall]
    return [{"task": "MOVE", "direction": choice(steps)}] * view["tasks"]
`,
  bomberman: `from random import choice

def bot(view):
    return {"action": choice(["MOVE_UP", "MOVE_DOWN", "MOVE_LEFT", "MOVE_RIGHT", "WAIT"])}
`,
};

export function exampleBot(game: string): string | null {
  return own(EXAMPLES, game) ?? null;
}
