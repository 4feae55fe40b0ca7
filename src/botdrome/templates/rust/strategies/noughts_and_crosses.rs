//! Win, block, or take the best free space.

use crate::json::Json;

type Space = (i64, i64);

const LINES: [[Space; 3]; 8] = [
    [(0, 0), (0, 1), (0, 2)],
    [(1, 0), (1, 1), (1, 2)],
    [(2, 0), (2, 1), (2, 2)],
    [(0, 0), (1, 0), (2, 0)],
    [(0, 1), (1, 1), (2, 1)],
    [(0, 2), (1, 2), (2, 2)],
    [(0, 0), (1, 1), (2, 2)],
    [(0, 2), (1, 1), (2, 0)],
];
const BY_WORTH: [Space; 9] = [(1, 1), (0, 0), (0, 2), (2, 0), (2, 2), (0, 1), (1, 0), (1, 2), (2, 1)];

pub fn choose(view: &Json, _seed: i64) -> Json {
    let (you, board) = (view["you"].number(), &view["board"]);
    let (mine, theirs) = (view["marks"][you].string(), view["marks"][1 - you].string());
    let free = BY_WORTH.iter().copied().find(|&space| mark_at(board, space).is_empty());
    let space = completing(board, mine).or_else(|| completing(board, theirs)).or(free).expect("a free space");
    Json::object([("mark", Json::text(mine)), ("space", Json::List(vec![space.0.into(), space.1.into()]))])
}

fn mark_at(board: &Json, space: Space) -> &str {
    board[space.0][space.1].string()
}

/// The free space of a line in which the two others have this mark.
fn completing(board: &Json, mark: &str) -> Option<Space> {
    for line in LINES {
        let marks = line.iter().filter(|&&space| mark_at(board, space) == mark).count();
        let free = line.iter().copied().find(|&space| mark_at(board, space).is_empty());
        if marks == 2 && free.is_some() {
            return free;
        }
    }
    None
}
