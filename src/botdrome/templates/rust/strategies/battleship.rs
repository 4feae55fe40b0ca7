//! Shoot beside hits, otherwise at every other square.

use crate::json::Json;

const SIDES: [(i64, i64); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];

pub fn choose(view: &Json, seed: i64) -> Json {
    let turns = view["turns"][view["you"].number()].number();
    let mut random = Random((seed + turns).abs() % 2147483646 + 1);
    if view["phase"].string() == "placement" { place(view, &mut random) } else { shoot(view, &mut random) }
}

/// Whole numbers that look random: the same for the same seed.
struct Random(i64);

impl Random {
    fn below(&mut self, limit: i64) -> i64 {
        self.0 = self.0 * 16807 % 2147483647;
        self.0 / 8 % limit
    }
}

/// Put each boat on free squares at random.
fn place(view: &Json, random: &mut Random) -> Json {
    let (width, height) = (view["width"].number(), view["height"].number());
    let mut board = vec![vec!['.'; width as usize]; height as usize];
    for boat in view["boats"].list() {
        let letter = boat.string().chars().next().expect("a letter");
        let length: i64 = boat.string()[1..].parse().expect("a length");
        loop {
            let (x, y, across) = (random.below(width), random.below(height), random.below(2));
            let squares: Vec<(i64, i64)> =
                (0..length).map(|step| (x + across * step, y + (1 - across) * step)).collect();
            let fits = |&(x, y): &(i64, i64)| x < width && y < height && board[y as usize][x as usize] == '.';
            if squares.iter().all(fits) {
                squares.iter().for_each(|&(x, y)| board[y as usize][x as usize] = letter);
                break;
            }
        }
    }
    let rows = board.iter().map(|row| Json::Text(row.iter().collect())).collect();
    Json::object([("board", Json::List(rows))])
}

fn shoot(view: &Json, random: &mut Random) -> Json {
    let (mut best, mut best_worth) = (Json::object([("skip", Json::Bool(true))]), 0);
    for (target, board) in view["boards"].list().iter().enumerate() {
        if target as i64 == view["you"].number() {
            continue;
        }
        for y in 0..view["height"].number() {
            for x in 0..view["width"].number() {
                let worth = 100 * worth_of(board, x, y) + random.below(100);
                if at(board, x, y) == b'.' && worth > best_worth {
                    best = Json::object([("target", (target as i64).into()), ("x", x.into()), ("y", y.into())]);
                    best_worth = worth;
                }
            }
        }
    }
    best
}

/// Squares that continue a row of hits come first, then squares beside a hit, then every other square.
fn worth_of(board: &Json, x: i64, y: i64) -> i64 {
    let mut worth = 1 + (x + y) % 2;
    for (dx, dy) in SIDES {
        if at(board, x + dx, y + dy) == b'X' {
            worth += if at(board, x + 2 * dx, y + 2 * dy) == b'X' { 20 } else { 5 };
        }
    }
    worth
}

fn at(board: &Json, x: i64, y: i64) -> u8 {
    let row = board.list().get(y as usize).map_or("", Json::string);
    *row.as_bytes().get(x as usize).unwrap_or(&b'#')
}
