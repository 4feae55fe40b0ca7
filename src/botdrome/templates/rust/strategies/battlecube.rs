//! Bomb a rival that stood still, otherwise step to the safest cell.

use crate::json::Json;

type Cell = [i64; 3];

const STEPS: [(&str, Cell); 6] = [
    ("+X", [1, 0, 0]),
    ("-X", [-1, 0, 0]),
    ("+Y", [0, 1, 0]),
    ("-Y", [0, -1, 0]),
    ("+Z", [0, 0, 1]),
    ("-Z", [0, 0, -1]),
];

pub fn choose(view: &Json, _seed: i64) -> Json {
    let (own, rivals): (Vec<&Json>, Vec<&Json>) =
        view["players"].list().iter().partition(|player| player["seat"] == view["you"]);
    let own = cell_of(own[0]);
    let cells: Vec<Cell> = rivals.iter().map(|rival| cell_of(rival)).collect();
    let targets = rivals.iter().filter(|rival| stood_still(view, rival)).map(|rival| cell_of(rival));
    let target = targets.min_by_key(|cell| distance(&own, cell));
    let mut plan = vec![Json::object([("task", Json::text("NOOP"))]); view["tasks"].number() as usize];
    plan[0] = match target {
        Some([x, y, z]) if cells.iter().all(|cell| distance(&own, cell) > 1) => {
            Json::object([("task", Json::text("BOMB")), ("x", x.into()), ("y", y.into()), ("z", z.into())])
        }
        _ => Json::object([("task", Json::text("MOVE")), ("direction", Json::text(best_step(view, own, &cells)))]),
    };
    Json::List(plan)
}

fn cell_of(player: &Json) -> Cell {
    [player["x"].number(), player["y"].number(), player["z"].number()]
}

fn stood_still(view: &Json, rival: &Json) -> bool {
    view["happened"].list().iter().any(|entry| {
        entry["seat"] == rival["seat"] && entry.find("did").map_or(false, |did| did.string() != "move")
    })
}

fn best_step(view: &Json, own: Cell, rivals: &[Cell]) -> &'static str {
    let worth = |step: &Cell| safety(view, [own[0] + step[0], own[1] + step[1], own[2] + step[2]], rivals);
    STEPS.iter().max_by_key(|(_, step)| worth(step)).expect("six steps").0
}

/// Bombs and the outside are deadly; a cell that a rival can reach is dangerous; the middle is better than the edge.
fn safety(view: &Json, cell: Cell, rivals: &[Cell]) -> i64 {
    let edge = view["edge"].number();
    if cell.iter().any(|&place| place < 0 || place >= edge) {
        return -10000;
    }
    let mut worth = -cell.iter().map(|place| (2 * place - edge + 1).abs()).sum::<i64>();
    let is_here = |bomb: &Json| (0..3).all(|axis| bomb[axis].number() == cell[axis as usize]);
    if view["bombs"].list().iter().any(is_here) {
        worth -= 5000;
    }
    worth - 1000 * rivals.iter().filter(|rival| distance(&cell, rival) <= 1).count() as i64
}

fn distance(one: &Cell, other: &Cell) -> i64 {
    (0..3).map(|axis| (one[axis] - other[axis]).abs()).sum()
}
