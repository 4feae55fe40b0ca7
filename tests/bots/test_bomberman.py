"""The house bots of Bomberman."""

import msgspec
import pytest

from botdrome.bots.bomberman import random
from botdrome.bots.bomberman_sapper import sapper
from botdrome.bots.house import HouseBot
from botdrome.games.bomberman import Bomberman
from botdrome.games.chance import Chance
from botdrome.games.game import Raw
from tests.games.bombermen import CHANCE, LETTERS, after, drawn


def played(bots: list[HouseBot], seed: int, setup: Bomberman | None = None) -> Bomberman:
    """The last position of a game."""
    chance = Chance(seed)
    chances = [Chance(1000 * seed + seat) for seat in range(len(bots))]
    position = (setup or Bomberman()).start(len(bots), chance)
    while not position.over:
        raws = {seat: bots[seat](position.view(seat), chances[seat]) for seat in position.to_move}
        moves = {seat: position.parse(seat, raw) for seat, raw in raws.items()}
        position = position.play(moves, chance.turn_to(position.round))
    return position


def action(bot: HouseBot, position: Bomberman, seat: int = 0, seed: int = 0) -> str:
    raw: Raw = bot(position.view(seat), Chance(seed))
    position.parse(seat, raw)
    word: str = raw["action"]
    return word


# random


def test_random_draws_every_legal_action_and_no_other() -> None:
    for drawing in ("A.+.... .#.#.#. B......", "..A.... .#.#.#. B......", "AB..... .#.#.#. .......", ".#A#... .#.#.#. B......"):
        for position in (start := drawn(drawing), after(start, "A BOMB"), after(start, "B BOMB", "B RIGHT")):
            for seat in position.to_move:
                assert {action(random, position, seat, seed) for seed in range(80)} == {
                    raw["action"] for raw in position.moves(seat)
                }


def test_random_draws_evenly() -> None:
    position = drawn("..A.... .#.#.#. B......")
    drawn_words = [action(random, position, 0, seed) for seed in range(1000)]
    assert all(150 < drawn_words.count(raw["action"]) < 250 for raw in position.moves(0))


# sapper


def test_sapper_beats_random_in_nearly_all_games_of_two() -> None:
    """Asked are 80 %; it wins nearly all of 200, whichever seat it has."""
    wins = 0
    for seed in range(200):
        seat = seed % 2
        bots = [random, random]
        bots[seat] = sapper
        scores = played(bots, seed).scores
        wins += scores[seat] > scores[1 - seat]
    assert wins >= 190


def test_sapper_outlives_three_randoms() -> None:
    games = [played([sapper, random, random, random], seed).scores for seed in range(40)]
    means = [sum(scores[seat] for scores in games) / len(games) for seat in range(4)]
    assert means[0] > 3.5
    assert max(means[1:]) < 1.5
