"""The house bots of battleship."""

from collections import Counter
from collections.abc import Sequence

import pytest

from botdrome.bots.battleship import (
    drifter,
    gunner,
    hunter,
    pilot,
    plotter,
    random,
    skipper,
    trawler,
)
from botdrome.bots.house import HOUSE, HouseBot
from botdrome.games.battleship import Battleship
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View

BLANK = ["." * 10] * 10
SHOOTERS = [random, drifter, trawler, gunner, pilot, plotter, hunter]
BOTS = pytest.mark.parametrize("bot", SHOOTERS, ids=lambda bot: bot.__name__)


def looking(
    *boards: Sequence[str],
    you: int = 0,
    boats: str = "A5 B4 C3 D3 E2",
    own: Sequence[str] | None = None,
) -> View:
    """A bot's view of some boards."""
    size = {"width": len(boards[0][0]), "height": len(boards[0])}
    return {
        "you": you,
        "phase": "shooting",
        **size,
        "boats": boats.split(),
        "boards": boards,
        "own": own,
    }


def shots(bot: HouseBot, view: View, tries: int = 20) -> set[tuple[int, int, int]]:
    """Target, column and row that the bot chooses with different chances."""
    moves = [bot(view, Chance(seed)) for seed in range(tries)]
    return {(move["target"], move["x"], move["y"]) for move in moves}


def played(bots: Sequence[HouseBot], seed: int, game: Battleship) -> Battleship:
    chances = [Chance(seed * 10 + seat + 10**6) for seat in range(len(bots))]
    chance = Chance(seed)
    position = game.start(len(bots), chance)
    while not position.over:
        raws = {seat: bots[seat](position.view(seat), chances[seat]) for seat in position.to_move}
        position = position.play(
            {seat: position.parse(seat, raw) for seat, raw in raws.items()}, chance
        )
    return position


def needed(bot: HouseBot, games: int, game: Battleship | None = None) -> float:
    """The shots that the bot needs on average for a fleet by chance."""
    return (
        sum(played((bot, skipper), seed, game or Battleship()).turn / 2 for seed in range(games))
        / games
    )


def test_the_house_has_them_from_random_to_the_best() -> None:
    assert list(HOUSE["battleship"]) == [
        "random",
        "skipper",
        "drifter",
        "trawler",
        "gunner",
        "pilot",
        "plotter",
        "hunter",
    ]


# All.


@BOTS
def test_a_bot_finds_the_only_square_left(bot: HouseBot) -> None:
    full, open_ = ["00000"] * 5, ["00000", "00000", "00.00", "00000", "00000"]
    assert shots(bot, looking(open_, full, open_, boats="A2"), 5) == {(2, 2, 2)}
    assert shots(bot, looking(full, open_, full, you=2, boats="A2"), 5) == {(1, 2, 2)}


@BOTS
def test_a_bot_skips_when_no_square_is_left(bot: HouseBot) -> None:
    assert bot(looking(BLANK, ["0000000000"] * 10), Chance(0)) == {"skip": True}


@pytest.mark.parametrize("bot", [skipper, *SHOOTERS], ids=lambda bot: bot.__name__)
def test_a_fleet_is_legal_and_another_each_time(bot: HouseBot) -> None:
    position = Battleship(width=7, height=12).start(2, Chance(0))
    boards = [bot(position.view(0), Chance(seed))["board"] for seed in range(30)]
    for board in boards:
        position.parse(0, {"board": board})
    assert len(set(boards)) == 30


@BOTS
@pytest.mark.parametrize(
    "game",
    [
        Battleship(width=8, height=22),
        Battleship(width=22, height=8, boats="A8 B8 C2"),
        Battleship(
            width=9, height=9, boats=" ".join(f"{letter}2" for letter in "ABCDEFGHIJKLMNOPQRST")
        ),
    ],
    ids=["tall", "wide", "crowded"],
)
def test_a_bot_plays_on_boards_of_any_size_with_any_boats(bot: HouseBot, game: Battleship) -> None:
    end = played((bot, skipper), 1, game)
    assert end.turn / 2 <= game.width * game.height
    assert end.scores[0] == end.view(None)["goal"]


@BOTS
def test_the_same_chance_makes_the_same_shot(bot: HouseBot) -> None:
    board = [*BLANK[:5], "..X..0....", *BLANK[6:]]
    assert bot(looking(board, board), Chance(4)) == bot(looking(board, board), Chance(4))


@pytest.mark.no_cover
def test_each_bot_needs_fewer_shots_than_the_one_before() -> None:
    """Over many boards: 95, 71, 61, 57, 54 and 47, each with a spread of about 9."""
    assert needed(random, 12) > 85
    assert 64 < needed(trawler, 12) < 77
    assert 54 < needed(gunner, 20) < 66
    assert 51 < needed(pilot, 20) < 63
    assert 49 < needed(plotter, 20) < 59
    assert needed(hunter, 12) < 52


def test_skipper_skips() -> None:
    assert skipper(looking(BLANK, BLANK), Chance(0)) == {"skip": True}


# random


def test_random_chooses_every_open_square_of_every_opponent_about_equally_often() -> None:
    view, chance = looking(["X...", "...0"], ["....", "...."], ["..00", "X..."], you=1), Chance(3)
    counts = Counter(
        (move["target"], move["x"], move["y"])
        for move in (random(view, chance) for _ in range(2200))
    )
    untried = {
        (seat, x, y)
        for seat in (0, 2)
        for y in range(2)
        for x in range(4)
        if view["boards"][seat][y][x] == "."
    }
    assert set(counts) == untried
    assert all(150 < count < 260 for count in counts.values())


# trawler, gunner and pilot


def test_a_search_keeps_to_one_colour_which_its_own_fleet_decides() -> None:
    blank = ["." * 8] * 8
    for own, colour in (
        (["AA......", *blank[1:]], 0),
        ([".aA.....", *blank[1:]], 1),
        (["..0.....", "..AA....", *blank[2:]], 1),
        (None, 0),
    ):
        for bot in (trawler, gunner, pilot):
            assert {(x + y) % 2 for _, x, y in shots(bot, looking(blank, blank, own=own))} == {
                colour
            }


def test_trawler_shoots_beside_hits_and_elsewhere() -> None:
    board = ["......", "......", "..X...", "......", "......", "......"]
    found = shots(trawler, looking(board, board, boats="A3"), 200)
    assert {(1, 1, 2), (1, 3, 2), (1, 2, 1), (1, 2, 3)} < found
    assert {(x + y) % 2 for _, x, y in found} == {0, 1}


@pytest.mark.parametrize("bot", [gunner, pilot])
def test_the_end_of_the_longest_line_comes_first(bot: HouseBot) -> None:
    board = [".X....", "......", "..XX..", "......", "......", "......"]
    assert shots(bot, looking(board, board, boats="A4 B3")) == {(1, 1, 2), (1, 4, 2)}
    blocked = [".X....", "......", ".0XX0.", "......", "......", "......"]
    upright = {(1, x, y) for x in (2, 3) for y in (1, 3)}
    assert shots(bot, looking(blocked, blocked, boats="A4 B3"), 99) == upright | {
        (1, 0, 0),
        (1, 2, 0),
        (1, 1, 1),
    }


def test_pilot_searches_where_there_is_most_open_water() -> None:
    board = ["........"] * 3 + ["00000000"] * 3 + ["........"] * 2
    assert shots(pilot, looking(board, board, boats="A3"), 50) == {
        (1, 2, 0),
        (1, 4, 0),
        (1, 3, 1),
        (1, 5, 1),
        (1, 2, 2),
        (1, 4, 2),
    }


def test_a_board_with_more_to_find_is_searched_first() -> None:
    board = [*BLANK[:5], "XX00000000", *BLANK[6:]]
    found = [*BLANK[:4], "000.......", "0XX0......", "000.......", *BLANK[7:]]
    for bot in (trawler, gunner, pilot, plotter):
        view = looking(BLANK, found, BLANK, boats="A2 B4")
        assert {target for target, _, _ in shots(bot, view)} == {2}, board


@BOTS
def test_nobody_but_random_shoots_at_a_fleet_that_is_sunk(bot: HouseBot) -> None:
    sunk = ["XXXX....", *["." * 8] * 7]
    blank = ["." * 8] * 8
    targets = {target for target, _, _ in shots(bot, looking(blank, sunk, blank, boats="A4"))}
    assert targets == ({1, 2} if bot is random else {2})
    assert {target for target, _, _ in shots(bot, looking(blank, sunk, sunk, boats="A4"))} == {1, 2}


# plotter


def test_plotter_prefers_berths_with_hits() -> None:
    board = [*BLANK[:5], "..XX......", *BLANK[6:]]
    assert shots(plotter, looking(BLANK, board)) <= {(1, 1, 5), (1, 4, 5)}


# hunter


def test_hunter_keeps_its_boats_apart_and_off_the_squares_that_are_shot_at_first() -> None:
    view = Battleship().start(2, Chance(0)).view(0)

    def contacts(bot: HouseBot) -> tuple[int, int]:
        boards = [bot(view, Chance(seed))["board"] for seed in range(60)]
        touching = sum(
            one != other and "." not in (one, other)
            for board in boards
            for step in (1, 10)
            for at, (one, other) in enumerate(zip(board, board[step:], strict=False))
            if step == 10 or at % 10 < 9
        )
        return touching, sum(board[at] != "." for board in boards for at in (44, 45, 54, 55))

    (touching, central), (by_chance, central_by_chance) = contacts(hunter), contacts(random)
    assert 2 * touching < by_chance
    assert 2 * central < central_by_chance


@pytest.mark.no_cover
def test_fleets_of_hunter_are_harder_to_find_than_those_by_chance() -> None:
    """Hunter needs 2 shots more for them, and plotter, which is faster, no fewer."""

    def hidden(view: View, chance: Chance) -> Raw:
        return hunter(view, chance) if view["phase"] == "placement" else {"skip": True}

    found = [
        sum(played((plotter, owner), seed, Battleship()).turn / 2 for seed in range(100)) / 100
        for owner in (hidden, skipper)
    ]
    assert found[0] > found[1] + 1


@pytest.mark.no_cover
def test_fleets_of_hunter_lie_everywhere() -> None:
    view = Battleship().start(2, Chance(0)).view(0)
    boards = [hunter(view, Chance(seed))["board"] for seed in range(200)]
    often = [sum(board[square] != "." for board in boards) / 200 for square in range(100)]
    assert min(often) > 0.01
    assert max(often) < 0.45


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


def anybody(view: View, chance: Chance) -> Raw:
    """Shoots as well as hunter does, at an opponent drawn by chance."""
    if view["phase"] == "placement":
        return hunter(view, chance)
    seats = [seat for seat in range(len(view["boards"])) if seat != view["you"]]
    target = chance.choice(seats)
    shot = hunter(
        view | {"you": 0, "boards": (view["boards"][view["you"]], view["boards"][target])}, chance
    )
    return shot if "skip" in shot else shot | {"target": target}


@pytest.mark.no_cover
@pytest.mark.parametrize("players", [3, 4, 5])
def test_hunter_chooses_whom_to_shoot_at_better_than_chance(players: int) -> None:
    """It wins 9 of 10 games against opponents that shoot as well but choose targets at random."""
    won = 0
    for seed in range(6):
        seat = seed % players
        scores = list(
            played(
                [hunter if at == seat else anybody for at in range(players)], seed, Battleship()
            ).scores
        )
        won += scores.pop(seat) > max(scores)
    assert won >= 4


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("game", "players", "games", "wins"),
    [
        (Battleship(), 2, 8, 8),
        (Battleship(width=6, height=13, boats="A6 B4 C4 D2"), 2, 8, 7),
        (Battleship(), 5, 2, 2),
    ],
    ids=["standard", "tall", "five"],
)
def test_hunter_beats_random(game: Battleship, players: int, games: int, wins: int) -> None:
    """At each seat in turn, against random at all others."""
    won = 0
    for seed in range(games):
        seat = seed % players
        scores = list(
            played([hunter if at == seat else random for at in range(players)], seed, game).scores
        )
        won += scores.pop(seat) > max(scores)
    assert won >= wins
