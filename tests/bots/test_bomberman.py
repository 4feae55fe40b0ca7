"""The house bots of Bomberman."""

import msgspec
import pytest

from botdrome.bots.bomberman import random, sapper
from botdrome.bots.house import HouseBot
from botdrome.games.bomberman import Bomberman
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View
from tests.games.bombermen import after, drawn


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
    for drawing in (
        "A.+.... .#.#.#. B......",
        "..A.... .#.#.#. B......",
        "AB..... .#.#.#. .......",
        ".#A#... .#.#.#. B......",
    ):
        for position in (
            start := drawn(drawing),
            after(start, "A BOMB"),
            after(start, "B BOMB", "B RIGHT"),
        ):
            for seat in position.to_move:
                assert {action(random, position, seat, seed) for seed in range(80)} == {
                    raw["action"] for raw in position.moves(seat)
                }


def test_random_draws_evenly() -> None:
    position = drawn("..A.... .#.#.#. B......")
    drawn_words = [action(random, position, 0, seed) for seed in range(1000)]
    assert all(150 < drawn_words.count(raw["action"]) < 250 for raw in position.moves(0))


# sapper


def idle(view: View, chance: Chance) -> Raw:
    return {"action": "WAIT"}


@pytest.mark.no_cover
def test_sapper_digs_through_to_one_that_does_nothing_and_kills_it() -> None:
    for seed in range(6):
        last = played([sapper, idle], seed)
        assert last.scores == (2.0, 0.0)
        assert last.users[0].kills == 1
        assert last.round < 300, "before walls close in"


@pytest.mark.no_cover
def test_sapper_reads_views_that_have_been_json() -> None:
    chance = Chance(5)
    position = Bomberman().start(4, chance)
    for number in range(60):
        for seat in position.to_move:
            view = position.view(seat)
            assert sapper(view, Chance(number)) == sapper(
                msgspec.json.decode(msgspec.json.encode(view)), Chance(number)
            )
        moves = {
            seat: position.parse(seat, sapper(position.view(seat), chance))
            for seat in position.to_move
        }
        position = position.play(moves, chance)
    assert position.found


@pytest.mark.no_cover
def test_sappers_stay_alive_until_walls_close_in() -> None:
    last = played([sapper] * 4, 3, Bomberman(closing=0, rounds=150))
    assert None not in last.at
    assert sum(user.crates for user in last.users) > 60
    assert sum(user.upgrades for user in last.users) > 4


def test_sappers_seek_the_middle_when_walls_close_in() -> None:
    """The last walls close in round 90."""
    rounds = [
        played([sapper] * 4, seed, Bomberman(height=9, width=9, closing=40, rounds=100)).round
        for seed in range(4)
    ]
    assert sum(rounds) / 4 > 75


def test_sapper_leaves_the_tiles_that_will_burn() -> None:
    fleeing = after(drawn("A......... .#.#.#.#.# .........B"), "A BOMB")
    actions = []
    for _ in range(4):
        actions.append(action(sapper, fleeing))
        fleeing = after(fleeing, f"A {actions[-1]}")
    assert fleeing.burned
    assert fleeing.at[0] is not None


def test_sapper_takes_an_upgrade() -> None:
    assert action(sapper, drawn("A.r....... .#.#.#.#.# .........B")) == "MOVE_RIGHT"


def test_sapper_bombs_a_crate_if_it_can_get_away() -> None:
    assert action(sapper, drawn(".A+....... .#.#.#.#.# .........B")) == "PLACE_BOMB"
    assert action(sapper, drawn("A+........ +#.#.#.#.# .........B")) == "WAIT"


def test_sapper_does_not_waste_a_bomb_on_a_crate_that_burns_anyway() -> None:
    bombed = after(drawn(".A+....... .#.#.#.#.# .........B", bombs=2), "A BOMB", "A LEFT")
    assert action(sapper, bombed) == "MOVE_DOWN"


def test_sapper_leaves_a_tile_that_closes() -> None:
    assert action(sapper, drawn("A.... .#.#. ..... .#.#. ....B", closing=1, rounds=40)) in {
        "MOVE_DOWN",
        "MOVE_RIGHT",
    }


def test_sapper_does_something_even_if_all_is_lost() -> None:
    lost = after(drawn("A+...... +#.#.#.# .......B"), "A BOMB")
    assert action(sapper, lost) == "WAIT"


@pytest.mark.no_cover
def test_sapper_beats_random_in_nearly_all_games_of_two() -> None:
    """Asked are 80 %; it wins nearly all of 200, whichever seat it has."""
    wins = 0
    for seed in range(200):
        seat = seed % 2
        bots: list[HouseBot] = [random, random]
        bots[seat] = sapper
        scores = played(bots, seed).scores
        wins += scores[seat] > scores[1 - seat]
    assert wins >= 190


@pytest.mark.no_cover
def test_sapper_outlives_three_randoms() -> None:
    games = [played([sapper, random, random, random], seed).scores for seed in range(40)]
    means = [sum(scores[seat] for scores in games) / len(games) for seat in range(4)]
    assert means[0] > 3.5
    assert max(means[1:]) < 1.5
