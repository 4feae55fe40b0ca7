//! Leave the reach of bombs, bomb crates and rivals if there is a way out, take upgrades.

use crate::json::Json;
use std::collections::HashSet;

type Tile = (i64, i64);
type Tiles = HashSet<Tile>;

const STEPS: [(&str, Tile); 4] = [("MOVE_UP", (-1, 0)), ("MOVE_DOWN", (1, 0)), ("MOVE_LEFT", (0, -1)), ("MOVE_RIGHT", (0, 1))];

pub fn choose(view: &Json, _seed: i64) -> Json {
    Json::object([("action", Json::text(action(view).unwrap_or("WAIT")))])
}

fn action(view: &Json) -> Option<&'static str> {
    let me = &view["users"][view["you"].number()];
    let (own, reach) = (tile_of(&me["at"]), me["range"].number());
    let danger = in_danger(view);
    if danger.contains(&own) {
        return first_step(view, own, |tile| !danger.contains(&tile), &Tiles::new(), 1000);
    }
    if me["bombsLeft"].number() > 0 && is_target(view, own, reach) {
        let worse: Tiles = burned(view, own, reach).union(&danger).copied().collect();
        if first_step(view, own, |tile| !worse.contains(&tile), &Tiles::new(), view["fuse"].number()).is_some() {
            return Some("PLACE_BOMB");
        }
    }
    let upgrades: Tiles = view["upgrades"].list().iter().map(|upgrade| tile_of(&upgrade["at"])).collect();
    let wanted = |tile| upgrades.contains(&tile) || is_target(view, tile, reach);
    first_step(view, own, wanted, &danger, 1000)
}

fn tile_of(place: &Json) -> Tile {
    (place[0].number(), place[1].number())
}

/// The tiles that burn when the bombs explode, and those that close soon.
fn in_danger(view: &Json) -> Tiles {
    let mut tiles = Tiles::new();
    for bomb in view["bombs"].list() {
        tiles.extend(burned(view, tile_of(&bomb["at"]), bomb["range"].number()));
    }
    let closing = &view["closing"];
    if closing["at"] != Json::Null && closing["at"].number() - view["round"].number() < 8 {
        tiles.extend(closing["next"].list().iter().map(tile_of));
    }
    tiles
}

fn burned(view: &Json, at: Tile, reach: i64) -> Tiles {
    let mut tiles = Tiles::from([at]);
    for (_, step) in STEPS {
        for distance in 1..=reach {
            let tile = (at.0 + step.0 * distance, at.1 + step.1 * distance);
            let kind = kind_of(view, tile);
            if kind == b'#' {
                break;
            }
            tiles.insert(tile);
            if kind == b'+' && view["flamePierces"] != Json::Bool(true) {
                break;
            }
        }
    }
    tiles
}

fn kind_of(view: &Json, tile: Tile) -> u8 {
    let row = view["tiles"].list().get(tile.0 as usize).map_or("", Json::string);
    *row.as_bytes().get(tile.1 as usize).unwrap_or(&b'#')
}

/// Whether a bomb here would burn a crate or a rival.
fn is_target(view: &Json, at: Tile, reach: i64) -> bool {
    let tiles = burned(view, at, reach);
    let is_rival = |user: &&Json| user["alive"] == Json::Bool(true) && user["seat"] != view["you"];
    let mut rivals = view["users"].list().iter().filter(is_rival);
    tiles.iter().any(|&tile| kind_of(view, tile) == b'+') || rivals.any(|user| tiles.contains(&tile_of(&user["at"])))
}

/// The first step of the shortest way to a wanted tile.
fn first_step(view: &Json, own: Tile, wanted: impl Fn(Tile) -> bool, avoided: &Tiles, most: i64) -> Option<&'static str> {
    let mut closed = avoided.clone();
    closed.extend(view["bombs"].list().iter().map(|bomb| tile_of(&bomb["at"])));
    let alive = view["users"].list().iter().filter(|user| user["alive"] == Json::Bool(true));
    closed.extend(alive.map(|user| tile_of(&user["at"])));
    let mut queue: Vec<(Tile, Option<&'static str>, i64)> = vec![(own, None, 0)];
    let mut at = 0;
    while at < queue.len() {
        let (tile, first, steps) = queue[at];
        at += 1;
        if first.is_some() && wanted(tile) {
            return first;
        }
        for (action, step) in STEPS {
            let beside = (tile.0 + step.0, tile.1 + step.1);
            if steps < most && kind_of(view, beside) == b'.' && closed.insert(beside) {
                queue.push((beside, first.or(Some(action)), steps + 1));
            }
        }
    }
    None
}
