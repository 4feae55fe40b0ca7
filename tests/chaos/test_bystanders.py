"""Duel arena's clients as bystanders of a failure: a client that leaves was not cut off."""

import asyncio
from pathlib import Path

import pytest

from tests.chaos import load as under_test
from tests.chaos.arena import ClusterProcesses
from tests.chaos.failures import Bystanders
from tests.chaos.load import Endless, Load, PatientDuellist
from tests.patience import until
from tests.server.clients import server

pytestmark = pytest.mark.anyio

VICTIM, OTHER = 1, 2
"""The process that fails, and the one that has all connections."""


@pytest.mark.parametrize(
    ("leave", "problems"),
    [
        (True, []),
        (
            False,
            ["2 clients of duel arena were cut off, though their connections were at another node"],
        ),
    ],
)
async def test_clients_of_duel_arena(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leave: bool, problems: list[str]
) -> None:
    """They have played a board when the other node fails; then they leave, or the server ends."""
    arena = ClusterProcesses(tmp_path)
    monkeypatch.setattr(arena, "holders", lambda: dict.fromkeys(arena.clients_at("duel"), OTHER))
    monkeypatch.setattr(under_test, "DUEL_THINK", 0.0)
    monkeypatch.setattr(under_test, "MOST_BOARDS", under_test.FOREVER)
    load = Load(arena)
    async with server(tmp_path, duel_port=-1) as house:
        arena.ports = house.ports
        load.duellists = [PatientDuellist(arena, load.diary, Endless()) for _ in range(2)]
        visits = [asyncio.ensure_future(one.visit()) for one in load.duellists]
        await until(lambda: load.diary.last)
        bystanders = Bystanders(arena, load, VICTIM)
        assert len(bystanders) == len(visits)
        if leave:
            monkeypatch.setattr(under_test, "MOST_BOARDS", load.duellists[0]._boards + 2)
            await until(lambda: all(visit.done() for visit in visits))
    await asyncio.gather(*visits, return_exceptions=True)
    assert bystanders.problems() == problems
