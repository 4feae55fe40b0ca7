//! The cell that adds most to its own rows and takes most from the other's.

use crate::json::Json;

const DIRECTIONS: [(i64, i64); 4] = [(1, 0), (0, 1), (1, 1), (1, -1)];

pub fn choose(view: &Json, _seed: i64) -> Json {
    let board: Vec<&[u8]> = view["board"].list().iter().map(|row| row.string().as_bytes()).collect();
    let size = board.len() as i64;
    let (mine, theirs) = if view["you"].number() == 0 { (b'X', b'O') } else { (b'O', b'X') };
    let (mut best, mut best_worth) = ((0, 0), -1);
    for y in 0..size {
        for x in 0..size {
            if cell(&board, x, y) != b'.' {
                continue;
            }
            let from_middle = (2 * x + 1 - size).abs() + (2 * y + 1 - size).abs();
            let worth = 3 * worth_of(&board, x, y, mine) + 2 * worth_of(&board, x, y, theirs) + size - from_middle / 2;
            if worth > best_worth {
                best = (x, y);
                best_worth = worth;
            }
        }
    }
    Json::object([("x", best.0.into()), ("y", best.1.into())])
}

/// The longer the rows through this cell would be, and the more open, the better.
fn worth_of(board: &[&[u8]], x: i64, y: i64, mark: u8) -> i64 {
    let mut total = 0;
    for (dx, dy) in DIRECTIONS {
        let (ahead, open_ahead) = run(board, x, y, dx, dy, mark);
        let (behind, open_behind) = run(board, x, y, -dx, -dy, mark);
        let (length, open) = ((ahead + behind + 1).min(5), open_ahead + open_behind);
        if length == 5 || open > 0 {
            total += 10_i64.pow(length) * (1 + open);
        }
    }
    total
}

/// The stones of this mark in a row from here, and 1 if the cell after them is free.
fn run(board: &[&[u8]], mut x: i64, mut y: i64, dx: i64, dy: i64, mark: u8) -> (u32, i64) {
    let mut stones = 0;
    loop {
        x += dx;
        y += dy;
        let found = cell(board, x, y);
        if found != mark {
            return (stones, (found == b'.') as i64);
        }
        stones += 1;
    }
}

fn cell(board: &[&[u8]], x: i64, y: i64) -> u8 {
    let size = board.len() as i64;
    let inside = (0..size).contains(&x) && (0..size).contains(&y);
    if inside { board[y as usize][x as usize] } else { b'#' }
}
