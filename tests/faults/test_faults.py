"""A sample of the faults; `make faults` tries them all."""

import pytest

from tests.faults.faulty import Fault
from tests.faults.load import PLAYING
from tests.faults.running import run_on

pytestmark = pytest.mark.anyio


async def test_without_a_fault_all_clients_are_told_results() -> None:
    report = await run_on("sqlite", Fault())
    assert not report.problems
    assert report.diary.told.keys() == {*PLAYING, "spectators"} - {"contest"}
    assert len(report.diary.complete) == 2
    assert {shown.where for shown in report.diary.shown} == {"standings", "duel table", "boat statistics"}
