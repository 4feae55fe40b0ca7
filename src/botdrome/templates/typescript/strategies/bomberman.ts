// Leave the reach of bombs, bomb crates and rivals if there is a way out, take upgrades.
export type View = {
  you: number;
  round: number;
  fuse: number;
  flamePierces: boolean;
  tiles: string[];
  users: { seat: number; at: Tile; alive: boolean; bombsLeft: number; range: number }[];
  bombs: { at: Tile; range: number }[];
  upgrades: { at: Tile }[];
  closing: { at: number | null; next: Tile[] };
};
type Tile = [number, number];
type Place = { tile: Tile; steps: number; first?: string };

const STEPS: Record<string, Tile> = { MOVE_UP: [-1, 0], MOVE_DOWN: [1, 0], MOVE_LEFT: [0, -1], MOVE_RIGHT: [0, 1] };

export function choose(view: View, _seed: number) {
  return { action: action(view) ?? 'WAIT' };
}

function action(view: View) {
  const me = view.users[view.you];
  const danger = inDanger(view, view.bombs);
  if (has(danger, me.at)) {
    return firstStep(view, me.at, (tile) => !has(danger, tile));
  }
  if (me.bombsLeft && isTarget(view, me.at, me.range) && canEscape(view, me.at, me.range)) {
    return 'PLACE_BOMB';
  }
  const upgrades = view.upgrades.map((upgrade) => upgrade.at);
  const wanted = (tile: Tile) => has(upgrades, tile) || isTarget(view, tile, me.range);
  return firstStep(view, me.at, wanted, danger);
}

function has(tiles: Tile[], [row, column]: Tile) {
  return tiles.some((tile) => tile[0] === row && tile[1] === column);
}

// The tiles that burn when these bombs explode, and those that close soon.
function inDanger(view: View, bombs: View['bombs']) {
  const tiles = bombs.flatMap((bomb) => burned(view, bomb.at, bomb.range));
  const { at, next } = view.closing;
  return at !== null && at - view.round < 8 ? [...tiles, ...next] : tiles;
}

function burned(view: View, [row, column]: Tile, reach: number) {
  const tiles: Tile[] = [[row, column]];
  for (const [down, right] of Object.values(STEPS)) {
    for (let distance = 1; distance <= reach; distance++) {
      const tile: Tile = [row + down * distance, column + right * distance];
      const kind = tileAt(view, tile);
      if (kind === '#') {
        break;
      }
      tiles.push(tile);
      if (kind === '+' && !view.flamePierces) {
        break;
      }
    }
  }
  return tiles;
}

function tileAt(view: View, [row, column]: Tile) {
  return view.tiles[row]?.[column] ?? '#';
}

// Whether a bomb here would burn a crate or a rival.
function isTarget(view: View, at: Tile, reach: number) {
  const rivals = view.users.filter((user) => user.alive && user.seat !== view.you).map((user) => user.at);
  return burned(view, at, reach).some((tile) => tileAt(view, tile) === '+' || has(rivals, tile));
}

function canEscape(view: View, at: Tile, range: number) {
  const danger = inDanger(view, [...view.bombs, { at, range }]);
  return firstStep(view, at, (tile) => !has(danger, tile), [], view.fuse) !== undefined;
}

// The first step of the shortest way to a wanted tile; undefined if there is no way.
function firstStep(view: View, own: Tile, wanted: (tile: Tile) => boolean, avoided: Tile[] = [], most = 1000) {
  const users = view.users.filter((user) => user.alive).map((user) => user.at);
  const closed = [...avoided, ...users, ...view.bombs.map((bomb) => bomb.at)];
  const queue: Place[] = [{ tile: own, steps: 0 }];
  for (const { tile, first, steps } of queue) {
    if (first && wanted(tile)) {
      return first;
    }
    for (const [move, [down, right]] of Object.entries(STEPS)) {
      const beside: Tile = [tile[0] + down, tile[1] + right];
      if (steps < most && tileAt(view, beside) === '.' && !has(closed, beside)) {
        closed.push(beside);
        queue.push({ tile: beside, first: first ?? move, steps: steps + 1 });
      }
    }
  }
  return undefined;
}
