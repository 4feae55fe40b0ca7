"""The house bots of battleship."""

from collections import Counter
from collections.abc import Sequence

import pytest

from botdrome.bots.battleship import hunter, random
from botdrome.bots.fleet_odds import odds
from botdrome.bots.house import HouseBot
from botdrome.games.battleship import Battleship
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View

BLANK = [".........."] * 10
BOTS = pytest.mark.parametrize("bot", [random, hunter])


def looking(*boards: Sequence[str], you: int = 0, boats: str = "A5 B4 C3 D3 E2") -> View:
    """What a bot sees of some boards."""
    width, height = len(boards[0][0]), len(boards[0])
    return {"you": you, "phase": "shooting", "width": width, "height": height, "boats": boats.split(), "boards": boards}


def shots(bot: HouseBot, view: View, tries: int = 20) -> set[tuple[int, int, int]]:
    """Target, column and row that the bot chooses with different chances."""
    moves = [bot(view, Chance(seed)) for seed in range(tries)]
    return {(move["target"], move["x"], move["y"]) for move in moves}


def skipper(view: View, chance: Chance) -> Raw:
    return random(view, chance) if view["phase"] == "placement" else {"skip": True}


def played(bots: Sequence[HouseBot], seed: int, game: Battleship) -> Battleship:
    chances = [Chance(seed * 10 + seat) for seat in range(len(bots))]
    chance = Chance(seed)
    position = game.start(len(bots), chance)
    while not position.over:
        raws = {seat: bots[seat](position.view(seat), chances[seat]) for seat in position.to_move}
        position = position.play({seat: position.parse(seat, raw) for seat, raw in raws.items()}, chance)
    return position


# Both.


@BOTS
def test_a_bot_finds_the_only_square_left(bot: HouseBot) -> None:
    full, open_ = ["00000"] * 5, ["00000", "00000", "00.00", "00000", "00000"]
    assert shots(bot, looking(open_, full, open_, boats="A2"), 5) == {(2, 2, 2)}
    assert shots(bot, looking(full, open_, full, you=2, boats="A2"), 5) == {(1, 2, 2)}


@BOTS
def test_a_bot_skips_when_no_square_is_left(bot: HouseBot) -> None:
    assert bot(looking(BLANK, ["0000000000"] * 10), Chance(0)) == {"skip": True}


@BOTS
def test_a_fleet_is_legal_and_another_each_time(bot: HouseBot) -> None:
    position = Battleship(width=7, height=12).start(2, Chance(0))
    boards = [bot(position.view(0), Chance(seed))["board"] for seed in range(30)]
    for board in boards:
        position.parse(0, {"board": board})
    assert len(set(boards)) == 30


# random


def test_random_chooses_every_open_square_of_every_opponent_about_equally_often() -> None:
    view, chance = looking(["X...", "...0"], ["....", "...."], ["..00", "X..."], you=1), Chance(3)
    counts = Counter((move["target"], move["x"], move["y"]) for move in (random(view, chance) for _ in range(2200)))
    untried = {(seat, x, y) for seat in (0, 2) for y in range(2) for x in range(4) if view["boards"][seat][y][x] == "."}
    assert set(counts) == untried
    assert all(150 < count < 260 for count in counts.values())


# hunter


def test_hunter_keeps_its_boats_apart() -> None:
    view = Battleship().start(2, Chance(0)).view(0)

    def contacts(bot: HouseBot) -> int:
        boards = [bot(view, Chance(seed))["board"] for seed in range(60)]
        return sum(
            one != other and "." not in (one, other)
            for board in boards
            for step in (1, 10)
            for at, (one, other) in enumerate(zip(board, board[step:], strict=False))
            if step == 10 or at % 10 < 9
        )

    assert 2 * contacts(hunter) < contacts(random)


def test_hunter_opens_near_the_centre() -> None:
    assert all(x in (4, 5) and y in (4, 5) for _, x, y in shots(hunter, looking(BLANK, BLANK)))


def test_hunter_looks_beside_a_hit() -> None:
    board = [*BLANK[:5], "..X.......", *BLANK[6:]]
    assert shots(hunter, looking(BLANK, board)) <= {(1, 1, 5), (1, 3, 5), (1, 2, 4), (1, 2, 6)}


def test_hunter_follows_a_line() -> None:
    board = [*BLANK[:5], "..XX......", *BLANK[6:]]
    assert shots(hunter, looking(BLANK, board)) <= {(1, 1, 5), (1, 4, 5)}
    blocked = [*BLANK[:5], ".0XX......", *BLANK[6:]]
    assert shots(hunter, looking(BLANK, blocked)) == {(1, 4, 5)}


def test_hunter_shoots_where_a_boat_can_lie() -> None:
    board = [".0...", "0.0..", ".0.0.", "..0..", ".0.0."]
    assert shots(hunter, looking(board, board, boats="A4")) <= {(1, 4, y) for y in range(5)}


def test_hunter_prefers_the_board_that_promises_most() -> None:
    hit = [*BLANK[:5], "..X.......", *BLANK[6:]]
    assert {target for target, _, _ in shots(hunter, looking(BLANK, BLANK, hit, BLANK))} == {2}
    sunk = ["XX...", ".....", ".....", ".....", "....."]
    other = ["0000.", "0000.", "0000.", "00000", "00000"]
    assert shots(hunter, looking(sunk, sunk, other, boats="A2")) == {(2, 4, 1)}


def test_odds_add_up_to_what_is_afloat() -> None:
    board = [".....", ".X...", ".....", "..0..", "....."]
    chances = odds(board, ["A3", "B2"], 30, Chance(0))
    assert sum(chances) == pytest.approx(4)
    assert chances[6] == chances[17] == 0
    assert max(chances) <= 1


def test_odds_of_a_board_with_one_possible_fleet_are_certain() -> None:
    chances = odds(["0000", "0X..", "0000"], ["A3"], 5, Chance(0))
    assert chances == [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0]


def test_hits_that_a_guess_has_no_boat_for_do_not_stop_it() -> None:
    """Two boats side by side: a guess that lays one of them across both rows leaves hits over."""
    chances = odds(["XX..", "XX..", "...."], ["A3", "B3"], 40, Chance(0))
    assert sum(chances) == pytest.approx(2)
    assert min(chances) == 0


def test_hunter_sinks_a_fleet_with_few_shots() -> None:
    """About 49 on average over many games, with a spread of 9, where random needs 95."""

    def needed(bot: HouseBot) -> float:
        return sum(played((bot, skipper), seed, Battleship()).turn / 2 for seed in range(12)) / 12

    assert needed(hunter) < 55
    assert needed(random) > 85


@pytest.mark.parametrize(
    ("game", "players", "games", "wins"),
    [
        (Battleship(), 2, 12, 12),
        (Battleship(width=6, height=13, boats="A6 B4 C4 D2"), 2, 10, 9),
        (Battleship(), 5, 3, 3),
    ],
    ids=["standard", "tall", "five"],
)
def test_hunter_beats_random(game: Battleship, players: int, games: int, wins: int) -> None:
    """At each seat in turn, against random at all others."""
    won = 0
    for seed in range(games):
        seat = seed % players
        scores = list(played([hunter if at == seat else random for at in range(players)], seed, game).scores)
        won += scores.pop(seat) > max(scores)
    assert won >= wins
