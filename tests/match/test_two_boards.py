"""A match of two boards: the same players, the starter swapped, and one result."""

import json
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from botdrome.catalogue import CATALOGUE
from botdrome.games.gomoku import Gomoku
from botdrome.match.events import Began, BoardEnded, BoardResult
from botdrome.match.match import Match
from tests.match.telling import told

RECORDED = Path(__file__).parent.parent / "games" / "gomoku_recorded.jsonl"
TOP, MIDDLE, BOTTOM = ([{"x": x, "y": y} for x in range(5)] for y in (0, 2, 4))


def begun(game: Gomoku | None = None) -> Match:
    match = Match(game or Gomoku(), 2, CATALOGUE["gomoku"].terms, seed=1)
    match.start()
    return match


def play(match: Match, first: int, *lines: list[dict[str, int]]) -> list[str]:
    """The players put stones in turn, `first` along the first line.

    Return the news of the last stone.
    """
    news: list[str] = []
    for turn in zip_longest(*lines):
        for at, raw in enumerate(turn):
            if raw is not None:
                news = told(match.submit((first + at) % 2, raw, now=0))
    return news


def won_by(player: int, match: Match) -> list[str]:
    """This player starts the board and wins it."""
    return play(match, player, TOP, BOTTOM[:4])


def full_board(match: Match, first: int) -> list[str]:
    """A board of five by five that ends in a draw."""
    rows = ("XXOOX", "OOXXO", "XXOOX", "OOXXO", "XXOOX")
    stones = {
        mark: [{"x": x, "y": y} for y in range(5) for x in range(5) if rows[y][x] == mark]
        for mark in "XO"
    }
    return play(match, first, stones["X"], stones["O"])


# Seats.


def test_the_other_player_starts_the_second_board() -> None:
    match = begun()
    assert (match.board.number, match.order, match.awaited) == (0, (0, 1), [0])
    assert won_by(0, match) == ["step 8 played by [0]", "board 0 ended (1, 2)", "board 1 began"]
    assert (match.board.number, match.order, match.awaited) == (1, (1, 0), [1])
    assert [match.view(player)["you"] for player in (0, 1, None)] == [1, 0, None]


def test_the_second_board_is_empty_and_keeps_the_options() -> None:
    match = begun(Gomoku(size=7, win_length=4))
    play(match, 0, TOP[:4], BOTTOM[:3])
    view = match.view(None)
    assert match.board.number == 1
    assert (view["size"], view["winLength"], view["moves"], view["board"]) == (
        7,
        4,
        [],
        ("." * 7,) * 7,
    )


def test_the_swapped_players_have_the_other_stones() -> None:
    match = begun()
    won_by(0, match)
    match.submit(1, {"x": 3, "y": 0}, now=0)
    match.submit(0, {"x": 4, "y": 0}, now=0)
    assert match.view(0)["board"][0] == "...XO.........."


def test_who_started_the_first_board_must_wait_on_the_second() -> None:
    match = begun()
    won_by(0, match)
    assert told(match.submit(0, {"x": 0, "y": 0}, now=0)) == ["0 refused (0): it is not your turn"]
    assert match.awaited == [1]


def test_the_news_of_a_board_come_with_its_own_position() -> None:
    match = begun()
    play(match, 0, TOP[:4], BOTTOM[:4])
    positions = {type(event): position for event, position in match.submit(0, TOP[4], now=0)}
    assert positions[BoardEnded].over
    assert positions[Began].view(None)["moves"] == []


# Results.


def test_two_wins_make_two_to_nil() -> None:
    match = begun()
    won_by(0, match)
    assert (
        play(match, 1, BOTTOM[:4] + MIDDLE[:1], TOP)[-1] == "ended (1, 2) ('complete', 'complete')"
    )
    assert match.result is not None
    assert match.result.scores == (2.0, 0.0)
    assert match.result.winner == 0
    assert [board.scores for board in match.result.boards] == [(1.0, 0.0), (1.0, 0.0)]


def test_a_win_each_is_a_tie() -> None:
    match = begun()
    won_by(0, match)
    assert won_by(1, match)[-1] == "ended (1, 1) ('complete', 'complete')"
    assert match.result is not None
    assert match.result.scores == (1.0, 1.0)
    assert match.result.winner is None
    assert [board.places for board in match.result.boards] == [(1, 2), (2, 1)]


def test_a_draw_gives_half_a_board_to_each() -> None:
    match = begun(Gomoku(size=5))
    assert full_board(match, 0) == [
        "step 24 played by [0]",
        "board 0 ended (1, 1)",
        "board 1 began",
    ]
    assert won_by(1, match)[-1] == "ended (2, 1) ('complete', 'complete')"
    assert match.result is not None
    assert match.result.scores == (0.5, 1.5)


def test_two_draws_are_a_tie() -> None:
    match = begun(Gomoku(size=5))
    full_board(match, 0)
    full_board(match, 1)
    assert match.result is not None
    assert (match.result.places, match.result.scores) == ((1, 1), (1.0, 1.0))


# Faults.


@pytest.mark.parametrize("raw", [{"x": 0, "y": 0}, {"x": 15, "y": 0}, {"x": 1}, None])
def test_an_illegal_move_loses_that_board_only(raw: Any) -> None:
    match = begun()
    match.submit(0, {"x": 0, "y": 0}, now=0)
    news = told(match.submit(1, raw, now=0))
    assert news[0].startswith("1 refused (1): ")
    assert news[1:] == ["1 out: illegal moves", "board 0 ended (1, 2)", "board 1 began"]
    assert match.strikes == (0, 0)
    assert won_by(1, match)[-1] == "ended (1, 1) ('complete', 'illegal moves')"
    assert match.result is not None
    assert match.result.boards[1] == BoardResult((0.0, 1.0), (2, 1), ("complete", "complete"))


def test_an_illegal_move_on_either_board_is_a_tie_again() -> None:
    match = begun()
    match.submit(0, {"x": -1, "y": 0}, now=0)
    match.submit(1, {"x": -1, "y": 0}, now=0)
    assert match.result is not None
    assert (match.result.scores, match.result.causes) == (
        (1.0, 1.0),
        ("illegal moves", "illegal moves"),
    )


def test_a_late_move_loses_that_board_only_and_the_clock_starts_anew() -> None:
    match = begun()
    assert match.deadline == 5500
    assert told(match.wake(5500)) == ["0 out: timeout", "board 0 ended (2, 1)", "board 1 began"]
    assert (match.awaited, match.deadline) == ([1], 11_000)
    won_by(1, match)
    assert match.result is not None
    assert match.result.scores == (0.0, 2.0)


def test_a_move_that_came_too_late_is_not_played_on_the_second_board() -> None:
    match = begun()
    match.submit(0, {"x": 0, "y": 0}, now=0)
    late = told(match.submit(1, {"x": 1, "y": 0}, now=5501))
    assert late == ["1 out: timeout", "board 0 ended (1, 2)", "board 1 began", "1 late by 1"]
    assert match.awaited == [1]
    assert match.view(None)["moves"] == []


@pytest.mark.parametrize("leaver", [0, 1], ids=["to move", "waiting"])
def test_who_leaves_the_first_board_loses_both_at_once(leaver: int) -> None:
    match = begun()
    places = (2, 1) if leaver == 0 else (1, 2)
    out = f"{leaver} out: disconnect"
    news = told(match.leave(leaver, now=10))
    assert news[:-1] == [
        out,
        f"board 0 ended {places}",
        "board 1 began",
        out,
        f"board 1 ended {places}",
    ]
    assert match.deadline is None
    assert match.result is not None
    assert match.result.places == places
    assert match.result.scores[leaver] == 0.0
    assert match.result.causes[leaver] == "disconnect"
    assert match.result.causes[1 - leaver] == "complete"


@pytest.mark.parametrize("leaver", [0, 1], ids=["waiting", "to move"])
def test_who_leaves_the_second_board_keeps_the_first(leaver: int) -> None:
    match = begun()
    won_by(0, match)
    news = told(match.leave(leaver, now=10))
    assert news[0] == f"{leaver} out: disconnect"
    assert match.result is not None
    assert match.result.scores == ((1.0, 1.0) if leaver == 0 else (2.0, 0.0))


def test_there_is_no_way_back() -> None:
    match = begun()
    match.leave(1, now=10)
    assert match.rejoin(1, now=20) == []
    assert match.submit(0, {"x": 0, "y": 0}, now=30) == []


# Matches that were played elsewhere.


@pytest.mark.parametrize(
    "recording", ["match", "lenient_moves", "invalid_move", "disconnect_other_turn"]
)
def test_recorded_matches_go_as_they_went(recording: str) -> None:
    """But a player that leaves loses the second board before its first stone."""
    boards = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    boards = [board for board in boards if board["recording"] == f"duel_arena-{recording}"]
    names = [board["starter"] for board in boards]
    match = begun()
    for number, board in enumerate(boards[:1] if "disconnect" in recording else boards):
        moves = board["moves"] + ([board["illegal"]] if board["illegal"] else [])
        for turn, (x, y) in enumerate(moves):
            match.submit((number + turn) % 2, {"x": x, "y": y}, now=0)
    if "disconnect" in recording:
        match.leave(0, now=0)
    assert match.result is not None
    assert [names[board.places.index(1)] for board in match.result.boards] == [
        board["winner"] for board in boards
    ]
