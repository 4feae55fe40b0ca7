"""A table credits its players for the network and for its own delays."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from botdrome.match.match import Match, apply
from botdrome.server.network.steady_loop import SteadyClock
from botdrome.server.tables.flight_records import written
from botdrome.server.tables.table import Table
from botdrome.server.tables.timing import MoveTimes
from tests.match.telling import mark
from tests.server.rooms.boats.clients import BOARD
from tests.server.tables.test_table import Hearer, running

pytestmark = pytest.mark.anyio
NOUGHTS = "noughts-and-crosses"


@pytest.fixture
async def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now[0])
    return now


def credits_in(table: Table) -> list[Any]:
    return [(by, said) for _, kind, by, said in table.match.inputs if kind == "credit"]


async def test_the_network_is_credited_up_to_the_cap(tmp_path: Path, clock: list[float]) -> None:
    far, near = Hearer(), Hearer()
    far.network, near.network = 99.0, 0.0009
    async with running(tmp_path, NOUGHTS, far, near) as (table, _, _):
        assert credits_in(table) == [(0, [300, 0])]
        assert table.match.deadline == 5300
        clock[0] += 5.2
        assert table.submit(0, mark(0, 1, 1), b"x") == "accepted"
        far.network = 0.1
        clock[0] += 0.5
        table.submit(1, mark(1, 0, 0), b"o")
        clock[0] += 0.4
        assert table.submit(0, mark(0, 0, 1), b"x") == "accepted"
        assert credits_in(table) == [(0, [300, 0])], "it is measured once a second"
        entries = [line for line in _log(table, 0) if line["dir"] == "in"]
        assert (entries[0]["used"], entries[0]["network"], entries[0]["charged"]) == (
            5200,
            300,
            4900,
        )
        assert not any("network" in line for line in _log(table, 1))


def _log(table: Table, player: int) -> list[Any]:
    lines = written(table._flights[player].packed("complete")).splitlines()
    return [msgspec.json.decode(line) for line in lines][:-1]


async def test_what_was_late_because_of_the_server_is_not_late(
    tmp_path: Path, clock: list[float]
) -> None:
    one, two = Hearer(), Hearer()
    async with running(tmp_path, NOUGHTS, one, two) as (table, _, _):
        clock[0] += 5.05
        one.late = 0.06
        assert table.submit(0, mark(0, 1, 1), b"x") == "accepted"
        clock[0] += 5.05
        two.late = 0.04
        assert table.submit(1, mark(1, 0, 0), b"o") == "late by 10 ms"
        assert credits_in(table) == [(0, [0, 60]), (1, [0, 40])]


@pytest.mark.parametrize("behind", [True, False])
async def test_a_delay_is_recorded_while_the_loop_is_behind(
    tmp_path: Path, clock: list[float], behind: bool
) -> None:
    one = Hearer()
    async with running(tmp_path, NOUGHTS, one, Hearer(), behind=lambda: behind) as (table, _, _):
        clock[0] += 1.0
        one.late = 0.02
        table.submit(0, mark(0, 1, 1), b"x")
        table.submit(0, mark(0, 1, 1), b"x")
        assert credits_in(table) == [(0, [0, 20])] * behind


async def test_a_delay_counts_if_the_player_must_answer_again(
    tmp_path: Path, clock: list[float]
) -> None:
    one = Hearer()
    async with running(tmp_path, NOUGHTS, one, Hearer(), behind=lambda: True) as (table, _, _):
        played = table.match
        clock[0] += 1.0
        one.late = 0.03
        assert table.submit(0, mark(0, 9, 9), b"x") != "accepted"
        assert played.deadline == 5030
        assert table.submit(0, mark(0, 1, 1), b"x") == "accepted"
        assert (played.deadline, played.clocks.active) == (6000, False)
        again = Match(played.game, 2, played.terms, played.seed)
        again.start()
        for told in played.inputs:
            apply(again, told)
        assert (again.position, again.deadline) == (played.position, played.deadline)
        assert again.inputs == played.inputs


async def test_a_late_timer_lets_the_loop_read_first(tmp_path: Path, clock: list[float]) -> None:
    one = Hearer()
    async with running(tmp_path, NOUGHTS, one, Hearer()) as (table, _, _):
        clock[0] += 5.1
        table._ring()
        assert table.match.result is None
        one.late = 0.11
        assert table.submit(0, mark(0, 1, 1), b"x") == "accepted"
        clock[0] += 5.002
        table._ring()
        assert table.match.result is not None, "a timer that is on time does not wait"


async def test_a_late_timer_waits_once(tmp_path: Path, clock: list[float]) -> None:
    async with running(tmp_path, NOUGHTS, Hearer(), Hearer()) as (table, _, over):
        clock[0] += 5.1
        table._ring()
        table._ring()
        assert table.match.result is not None and table.match.result.causes == (
            "timeout",
            "complete",
        )
        await over.wait()


async def test_games_with_ticks_have_no_credit(tmp_path: Path) -> None:
    one = Hearer()
    one.network = one.late = 0.2
    async with running(tmp_path, "bumblebots", one, Hearer(), behind=lambda: True) as (table, _, _):
        table.submit(0, {}, b"{}")
        assert credits_in(table) == []


@pytest.mark.parametrize("game", [NOUGHTS, "bumblebots"])
async def test_a_stall_is_recorded_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game: str
) -> None:
    clock = SteadyClock(lambda: 0.0)
    monkeypatch.setattr(asyncio.get_running_loop(), "clock", clock, raising=False)
    async with running(tmp_path, game, Hearer(), Hearer()) as (table, _, _):
        clock.left_out = 1.25
        table.submit(0, {}, b"{}")
        clock.left_out = 1.5
        table._ring()
        table.submit(0, {}, b"{}")
        assert [said for _, kind, _, said in table.match.inputs if kind == "stall"] == [1250, 250]


async def test_a_house_bot_is_never_late(tmp_path: Path, clock: list[float]) -> None:
    """Neither if its move comes after its time, nor if the timer looks first; others are."""
    async with running(tmp_path, NOUGHTS) as (table, _, over):
        table.seat_house(0)
        for seconds in (5.0, 12.5):
            clock[0] += seconds
            table._ring()
            assert table.match.result is None
        assert table.match.deadline == 22_500
        clock[0] += 60.0
        assert table.submit(0, mark(0, 1, 1), b"") == "accepted"
        assert credits_in(table) == [(0, [0, 5000]), (0, [0, 17_500]), (0, [0, 77_500])]
        clock[0] += 5.0
        table._ring()
        assert table.match.result is not None
        assert table.match.result.causes == ("complete", "timeout")
        await over.wait()


async def test_a_player_without_a_connection_is_charged_as_usual(tmp_path: Path) -> None:
    async with running(tmp_path, NOUGHTS) as (table, _, _):
        assert isinstance(table._times, MoveTimes)
        assert table.submit(0, mark(0, 1, 1), b"") == "accepted"
        assert credits_in(table) == []


async def test_the_network_of_a_player_that_left_counts_no_more(
    tmp_path: Path, clock: list[float]
) -> None:
    one = Hearer()
    one.network = 0.1
    async with running(tmp_path, "battleship", one, Hearer()) as (table, _, _):
        for leave in (True, False):
            assert table.submit(0, {"board": BOARD}, b"x") == "accepted"
            if leave:
                table.leave(0)
        entries = [line for line in _log(table, 0) if line["message"] == "x"]
        assert [line.get("network", 0) for line in entries] == [100, 0]


async def test_a_timer_that_rings_too_early_is_set_again(
    tmp_path: Path, clock: list[float]
) -> None:
    async with running(tmp_path, NOUGHTS) as (table, _, _):
        clock[0] += 3.0
        assert table.submit(0, mark(0, 1, 1), b"x") == "accepted"
        clock[0] += 2.0
        assert table._timer is not None
        table._timer.cancel()
        table._ring()
        assert table.match.result is None
        assert isinstance(table._timer, asyncio.TimerHandle) and table._timer.when() == 108.0
