"""Large contests: a worker process plans them, and the event loop goes on meanwhile."""

import asyncio
from pathlib import Path

import pytest

from botdrome.app import RunningServer
from botdrome.contest.document import document_from
from botdrome.contest.formats.format import Entrant
from tests.server.clients import leap, server
from tests.server.contests.entrants import CUP, cup_progress, stored_cup
from tests.server.loop_meter import shortest

pytestmark = pytest.mark.anyio
BOTS = 1000


async def planned(house: RunningServer, round_: int, absent: int) -> None:
    """Return when a round is planned and waits for that many bots."""
    while (contest := house.contests.running("cup")) is None or (
        contest._planning or (contest._plan.summary.round, len(contest.awaited)) != (round_, absent)
    ):
        await asyncio.sleep(0.01)


async def test_planning_and_withdrawing_block_the_loop_for_5_ms_at_most(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        journal = house.contests.journal
        rules = {"format": "swiss", "games": 1, "penalties": {"wait": 60}}
        await journal.create(
            document_from(CUP | rules), "olga", [Entrant(f"bot {number}") for number in range(BOTS)]
        )
        await journal.change_state("cup", "running", "olga")
    async with server(tmp_path) as house:
        await planned(house, 1, BOTS)
        gone, round_ = 0, 1

        async def withdraw() -> None:
            nonlocal gone
            gone += 1
            await house.contests.withdraw("cup", f"bot {gone}", "operator")
            await planned(house, 1, BOTS - 2 * gone)

        async def lose_by_absence() -> None:
            nonlocal round_
            round_ += 1
            leap(61)
            await planned(house, round_, (BOTS - gone) // 2 * 2)

        best = await shortest(withdraw, 3)
        assert best.bounds <= 1, str(best)
        best = await shortest(lose_by_absence, 3)
        assert best.bounds <= 2, str(best)
        rounds = (await cup_progress(house)).rounds[: round_ - 1]
        assert (
            sum(len(each.fixtures) for each in rounds)
            == len((await stored_cup(house)).results) + gone
        )
