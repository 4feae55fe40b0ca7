//! Each drone flies to the nearest flower that no other drone of the bot wants.

use crate::json::Json;
use std::collections::{BTreeMap, HashSet};

type Hex = (i64, i64);

const FLOWER: i64 = 2;
const STEPS: [(&str, Hex); 6] =
    [("UL", (-1, -1)), ("UR", (-1, 0)), ("R", (0, 1)), ("DR", (1, 1)), ("DL", (1, 0)), ("L", (0, -1))];

/// A hex, and the way to it: its first direction, and the hex to which that leads.
#[derive(Clone, Copy)]
struct Way {
    hex: Hex,
    start: Option<(&'static str, Hex)>,
}

pub fn choose(view: &Json, _seed: i64) -> Json {
    let swarms = view["drones"].list();
    let mut occupied: HashSet<Hex> = swarms.iter().flat_map(|swarm| swarm.map().values().map(position)).collect();
    let mut sought = HashSet::new();
    let mut orders = BTreeMap::new();
    for (name, drone) in view["drones"][view["you"].number()].map() {
        let way = way_to_flower(view, position(drone), &occupied, &sought);
        if let Some(Way { hex, start: Some((direction, first)) }) = way {
            orders.insert(name.clone(), Json::text(direction));
            occupied.insert(first);
            sought.insert(hex);
        }
    }
    Json::object([("orders", Json::Object(orders))])
}

fn position(drone: &Json) -> Hex {
    (drone["position"][0].number(), drone["position"][1].number())
}

/// The shortest way to a flower.
fn way_to_flower(view: &Json, start: Hex, occupied: &HashSet<Hex>, sought: &HashSet<Hex>) -> Option<Way> {
    let mut closed = occupied.clone();
    let mut queue = vec![Way { hex: start, start: None }];
    let mut at = 0;
    while at < queue.len() {
        let way = queue[at];
        at += 1;
        if way.start.is_some() && kind_of(view, way.hex) == FLOWER && !sought.contains(&way.hex) {
            return Some(way);
        }
        for (direction, step) in STEPS {
            let beside = (way.hex.0 + step.0, way.hex.1 + step.1);
            if is_open(view, beside) && closed.insert(beside) {
                queue.push(Way { hex: beside, start: way.start.or(Some((direction, beside))) });
            }
        }
    }
    None
}

fn kind_of(view: &Json, hex: Hex) -> i64 {
    match &view["board"][hex.0][hex.1] {
        Json::Null => -1,
        kind => kind.number(),
    }
}

fn is_open(view: &Json, hex: Hex) -> bool {
    let kind = kind_of(view, hex);
    kind == 0 || kind == FLOWER || kind == view["territory"][view["you"].number()].number()
}
