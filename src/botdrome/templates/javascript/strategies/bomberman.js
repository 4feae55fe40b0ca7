// Leave the reach of bombs, bomb crates and rivals if there is a way out, take upgrades.
const STEPS = { MOVE_UP: [-1, 0], MOVE_DOWN: [1, 0], MOVE_LEFT: [0, -1], MOVE_RIGHT: [0, 1] };

export function choose(view) {
  return { action: action(view) ?? 'WAIT' };
}

function action(view) {
  const me = view.users[view.you];
  const danger = inDanger(view, view.bombs);
  if (has(danger, me.at)) {
    return firstStep(view, me.at, (tile) => !has(danger, tile));
  }
  if (me.bombsLeft && isTarget(view, me.at, me.range) && canEscape(view, me.at, me.range)) {
    return 'PLACE_BOMB';
  }
  const upgrades = view.upgrades.map((upgrade) => upgrade.at);
  const wanted = (tile) => has(upgrades, tile) || isTarget(view, tile, me.range);
  return firstStep(view, me.at, wanted, danger);
}

function has(tiles, [row, column]) {
  return tiles.some((tile) => tile[0] === row && tile[1] === column);
}

// The tiles that burn when these bombs explode, and those that close soon.
function inDanger(view, bombs) {
  const tiles = bombs.flatMap((bomb) => burned(view, bomb.at, bomb.range));
  const { at, next } = view.closing;
  return at !== null && at - view.round < 8 ? [...tiles, ...next] : tiles;
}

function burned(view, [row, column], reach) {
  const tiles = [[row, column]];
  for (const [down, right] of Object.values(STEPS)) {
    for (let distance = 1; distance <= reach; distance++) {
      const tile = [row + down * distance, column + right * distance];
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

function tileAt(view, [row, column]) {
  return view.tiles[row]?.[column] ?? '#';
}

// Whether a bomb here would burn a crate or a rival.
function isTarget(view, at, reach) {
  const rivals = view.users.filter((user) => user.alive && user.seat !== view.you).map((user) => user.at);
  return burned(view, at, reach).some((tile) => tileAt(view, tile) === '+' || has(rivals, tile));
}

function canEscape(view, at, range) {
  const danger = inDanger(view, [...view.bombs, { at, range }]);
  return firstStep(view, at, (tile) => !has(danger, tile), [], view.fuse) !== undefined;
}

// The first step of the shortest way to a wanted tile; undefined if there is no way.
function firstStep(view, own, wanted, avoided = [], most = 1000) {
  const users = view.users.filter((user) => user.alive).map((user) => user.at);
  const closed = [...avoided, ...users, ...view.bombs.map((bomb) => bomb.at)];
  const queue = [{ tile: own, steps: 0 }];
  for (const { tile, first, steps } of queue) {
    if (first && wanted(tile)) {
      return first;
    }
    for (const [move, [down, right]] of Object.entries(STEPS)) {
      const beside = [tile[0] + down, tile[1] + right];
      if (steps < most && tileAt(view, beside) === '.' && !has(closed, beside)) {
        closed.push(beside);
        queue.push({ tile: beside, first: first ?? move, steps: steps + 1 });
      }
    }
  }
  return undefined;
}
