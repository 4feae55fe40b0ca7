"""Clocks that charge only thinking: network credit, delays of the arena, and time banks."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from botdrome.catalogue import CATALOGUE
from botdrome.games.game import BadOption
from botdrome.match.board import MOST_CREDIT
from botdrome.match.match import Match
from botdrome.match.record import BadRecord, match_file, read, verify
from botdrome.match.terms import Bank, Pace, Terms
from botdrome.wire.writers import match_status
from tests.docs.example_game import RockPaperScissors
from tests.match.telling import mark, told
from tests.match.test_match import noughts
from tests.match.test_steps import PAPER, ROCK, throwing

CHESS = Pace(None, bank=Bank(60_000, 600, 40))


def holds(match: Match) -> int:
    """The match replays from its file; the version of the file."""
    data = match_file(match, ["a", "b"])
    verify(read(data), match.game)
    return read(data).setup.botdrome


# Credit.


def test_the_network_and_the_arena_are_not_charged() -> None:
    match = noughts()
    assert match.credit(0, 150, 30, 1000) == []
    assert match.deadline == 5180
    assert told(match.submit(0, mark(0, 1, 1), 5180)) == ["step 0 played by [0]"]
    assert match.deadline == 5180 + 5000, "the other player has no credit"
    assert told(match.submit(1, mark(1, 0, 0), 5200)) == ["step 1 played by [1]"]
    assert match.deadline == 5200 + 5150, (
        "the credit for the network stays, that for the arena was for one step"
    )
    assert told(match.submit(0, mark(0, 0, 1), 10_351))[-1] == "0 late by 1"
    assert holds(match) == 3


def test_a_delay_of_the_arena_slows_down_no_later_step() -> None:
    match = noughts()
    match.credit(0, 0, 30, 1000)
    assert match.clocks.active
    match.submit(0, mark(0, 1, 1), 1010)
    assert not match.clocks.active, "all players have the same time again"
    assert match.deadline == 1010 + 5000
    assert holds(match) == 3


def test_the_announced_time_has_no_credit() -> None:
    match = noughts(pace=Pace(5000, grace=10))
    match.credit(0, 150, 0, 0)
    assert [match_status(match, now).time_left for now in (0, 4999, 5200)] == [5000, 1, 0]


def test_the_arena_is_not_late_by_more_than_the_time_since_the_question() -> None:
    match = noughts()
    match.credit(0, 0, 900, 100)
    assert match.deadline == 5100
    match.credit(1, 20, 900, 100)
    match.submit(0, mark(0, 1, 1), 200)
    assert match.deadline == 5220, "nobody waited for the other player's move"


@pytest.mark.parametrize(("network", "arena"), [(-1, 0), (MOST_CREDIT + 1, 0), (0, -1)])
def test_a_credit_has_bounds(network: int, arena: int) -> None:
    with pytest.raises(
        ValueError, match=f"credit is 0 to 10000 ms for the network, .*: {network}, {arena}"
    ):
        noughts().credit(0, network, arena, 5)


def test_ticks_and_matches_that_are_over_have_no_credit() -> None:
    row = CATALOGUE["bumblebots"]
    ticking, over = Match(row.game, 2, row.terms, 1), noughts()
    ticking.start()
    over.abort(3)
    for match in (ticking, over):
        inputs, due = match.inputs, match.deadline
        match.credit(0, 150, 30, 7)
        assert (match.inputs, match.deadline) == (inputs, due)
    over.stall(500, 8)
    assert holds(over) == 2


def test_without_a_limit_there_is_nothing_to_extend() -> None:
    match = noughts(pace=Pace(None))
    match.credit(0, 150, 0, 0)
    assert match.deadline is None
    assert told(match.submit(0, mark(0, 1, 1), 9_999_999)) == ["step 0 played by [0]"]


def test_a_stall_is_recorded() -> None:
    match = noughts()
    assert match.stall(1234, 700) == []
    assert match.inputs == [(700, "stall", None, 1234)]
    assert match.deadline == 5000
    assert holds(match) == 3


def test_a_credit_takes_no_room_from_the_player() -> None:
    match = noughts()
    room = match.input_log._room.copy()
    match.credit(0, 150, 0, 0)
    assert match.input_log._room == room


# Steps of several players.


def test_every_player_has_its_own_time() -> None:
    match = throwing()
    match.credit(1, 150, 0, 0)
    assert match.deadline == 5000
    assert told(match.wake(5000)) == [], "the step goes on for the player that has time left"
    assert (match.awaited, match.deadline) == ([1], 5150)
    assert told(match.submit(0, ROCK, 5100)) == ["0 late by 100"]
    assert told(match.submit(1, PAPER, 5150)) == [
        "0 out: timeout",
        "board 0 ended (2, 1)",
        "ended (2, 1) ('timeout', 'complete')",
    ]
    assert holds(match) == 3


def test_a_move_within_its_own_time_counts_though_the_wake_for_others_is_late() -> None:
    match = throwing(late="pass")
    match.credit(1, 150, 0, 0)
    assert told(match.submit(1, PAPER, 5100)) == ["step 0 played by [1]"]
    assert holds(match) == 3


def test_a_late_move_before_any_wake_ends_the_time_of_its_player_alone() -> None:
    match = throwing(late="pass")
    match.credit(1, 150, 0, 0)
    assert told(match.submit(0, ROCK, 5060)) == ["0 late by 60"]
    assert told(match.submit(0, ROCK, 5200)) == [
        "step 0 played by []",
        "0 refused (0): it is not your turn",
    ]
    assert match.deadline == 5200 + 5000
    match.submit(0, ROCK, 5300)
    match.submit(1, PAPER, 5400)
    assert match.position.scores == (0, 1)
    assert holds(match) == 3


def test_players_that_time_out_one_after_the_other_go_out_together() -> None:
    match = throwing()
    match.credit(0, 150, 0, 0)
    assert told(match.wake(5000)) == []
    assert told(match.wake(5150))[:2] == ["0 out: timeout", "1 out: timeout"]
    late = throwing()
    late.credit(0, 150, 0, 0)
    assert told(late.submit(1, ROCK, 5200))[:2] == ["0 out: timeout", "1 out: timeout"]


def test_a_move_cannot_be_changed_after_its_own_time() -> None:
    match = throwing()
    match.credit(1, 150, 0, 0)
    match.submit(0, ROCK, 4000)
    assert told(match.submit(0, PAPER, 5001)) == ["0 late by 1"]
    match.submit(1, ROCK, 5100)
    assert match.position.scores == (0, 0)


def test_players_that_are_away_have_the_time_of_the_terms() -> None:
    match = throwing(gone="wait", absence=2000, late="pass", reunion=9000)
    match.credit(1, 150, 0, 0)
    match.leave(1, 10)
    match.submit(0, ROCK, 20)
    assert match.deadline == 2020
    match.credit(1, 100, 0, 30)
    assert match.deadline == 2020
    assert told(match.wake(2020)) == ["step 0 played by [0]"]
    assert holds(match) == 3


def test_a_move_in_a_pause_is_charged_nothing() -> None:
    match = throwing(pace=Pace(1000, pause=500, bank=Bank(300)), late="pass")
    match.submit(1, ROCK, 10)
    match.submit(0, ROCK, 1200)
    assert match.clocks.left == [100, 300]
    match.submit(0, ROCK, 1400)
    match.credit(1, 7, 9, 1500)
    match.submit(0, PAPER, 1701)
    assert (match.awaited, match.deadline) == ([1], 1701 + 1000 + 300 + 7)
    match.submit(1, ROCK, 2000)
    assert match.clocks.left == [100, 300]
    assert holds(match) == 3


# Banks.


def test_a_chess_clock_runs_down_and_gets_its_increment() -> None:
    match = noughts(pace=CHESS)
    assert (match.deadline, match_status(match, 0).time_left) == (60_000, 60_000)
    match.submit(0, mark(0, 1, 1), 20_000)
    assert match.clocks.left == [40_600, 60_000]
    match.submit(1, mark(1, 0, 0), 20_100)
    assert match.deadline == 20_100 + 40_600
    match.credit(0, 200, 0, 20_100)
    match.submit(0, mark(0, 0, 1), 30_300)
    assert match.clocks.left == [40_600 - 10_000 + 600, 60_500]
    assert told(match.wake(30_300 + 60_500))[0] == "1 out: timeout"
    assert holds(match) == 3


def test_a_new_period_adds_the_time_again() -> None:
    match = throwing(pace=Pace(None, bank=Bank(1000, 0, 2)))
    for at in (100, 200):
        match.submit(0, ROCK, at)
        match.submit(1, ROCK, at)
    assert match.clocks.left == [1800, 1800]


def test_a_bank_pays_for_what_exceeds_the_limit_and_is_empty_after_a_missed_move() -> None:
    match = throwing(pace=Pace(1000, first=2000, bank=Bank(500)), late="pass")
    assert match.deadline == 2500
    match.submit(0, ROCK, 1900)
    match.submit(1, ROCK, 2300)
    assert match.clocks.left == [500, 200]
    assert match.deadline == 2300 + 1200
    match.submit(0, ROCK, 2400)
    assert told(match.wake(3500)) == ["step 1 played by [0]"]
    assert match.clocks.left == [500, 0]
    assert match.deadline == 3500 + 1000


def test_ticks_have_no_bank() -> None:
    with pytest.raises(BadOption, match="a match that is played in ticks has no time bank"):
        Match(RockPaperScissors(), 2, Terms(Pace(beat=True, bank=Bank(5))), 1)


# Files.


def test_other_matches_are_written_as_before() -> None:
    match = noughts()
    match.submit(0, mark(0, 1, 1), 5)
    assert holds(match) == 2
    assert b"bank" not in match_file(match, ["a", "b"])


def test_older_versions_have_no_times() -> None:
    match = noughts()
    match.credit(0, 5, 5, 5)
    data = match_file(match, ["a", "b"])
    with pytest.raises(BadRecord, match="line 2: 'credit' is only in files of version 3"):
        read(data.replace(b'"botdrome":3', b'"botdrome":2'))
    with pytest.raises(BadRecord, match="line 2: it cannot be played: credit is 0 to 10000 ms"):
        verify(read(data.replace(b"[5,5]", b"[10001,5]")), match.game)


Inputs = list[tuple[int, int, int, int, int, bool]]
INPUTS = st.lists(
    st.tuples(
        st.integers(0, 3000),
        st.integers(0, 1),
        st.integers(0, 300),
        st.integers(0, 900),
        st.integers(0, 4),
        st.booleans(),
    )
)
PACES = st.sampled_from(
    [
        Pace(1000),
        Pace(None, bank=Bank(3000, 100, 3)),
        Pace(1000, pause=50, bank=Bank(500)),
        Pace(None),
    ]
)


@given(INPUTS, PACES, st.sampled_from(["out", "pass"]))
def test_every_match_replays_and_charges_no_more_than_the_time_that_passed(
    inputs: Inputs, pace: Pace, late: Any
) -> None:
    match = Match(RockPaperScissors(rounds=6), 2, Terms(pace, late=late), 3)
    match.start()
    clocks, now = match.clocks, 0
    for wait, player, network, arena, throw, wakes in inputs:
        now += wait
        if wakes:
            match.wake(now)
        if throw == 4:
            match.credit(player, network, arena, now)
        else:
            match.submit(player, {"throw": ("rock", "paper", "scissors", "gun")[throw]}, now)
        assert all(0 <= charged <= now for charged in clocks._answers.values())
        assert min(clocks.left) >= 0
        assert max(clocks.network) <= 300
        assert (
            match.deadline is None
            or match.deadline <= now + 1000 + 300 + 900 + max(clocks.left) + 50
        )
    holds(match)
