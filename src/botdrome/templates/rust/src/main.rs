//! Reads one message per line from standard input, and answers each view with a move on standard output.
//! Standard error is free for messages of your own.

mod json;
mod strategy;

use json::Json;
use std::io::{self, BufRead};

fn main() {
    let mut seed = 1;
    for line in io::stdin().lock().lines() {
        let message = Json::parse(&line.expect("standard input is text"));
        if let Some(begin) = message.find("begin") {
            seed = begin["seed"].number(); // the same in each run of the same match
            println!("true"); // ready: from now on the time of moves counts
        } else if let Some(view) = message.find("view") {
            println!("{}", strategy::choose(view, seed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds the positions of positions.jsonl to the bot. `moves` lists the legal moves, if they can be listed.
    #[test]
    fn moves_are_legal() {
        for (number, line) in include_str!("../positions.jsonl").lines().enumerate() {
            let position = Json::parse(line);
            let chosen = strategy::choose(&position["view"], 1);
            if let Some(moves) = position.find("moves") {
                assert!(moves.list().contains(&chosen), "position {}: {} is not legal", number + 1, chosen);
            }
        }
    }
}
