"""Clients that come to the node of their table: when they log in again, and what
becomes of them.
"""

import asyncio
from typing import Any

import pytest

from botdrome.app import RunningServer
from botdrome.server.lobby.bans import Bans
from botdrome.server.lobby.registry import Registry
from botdrome.server.nodes.moving import Handover
from botdrome.store.entries import BotEntry
from tests.server.clients import NOTICES, bot, registered
from tests.server.nodes.draining import chatting

pytestmark = pytest.mark.anyio


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of bots whose tokens were checked, at any node."""
    names: list[str] = []
    passed = Registry._passed

    def note(self: Registry, found: BotEntry) -> BotEntry:
        names.append(found.name)
        return passed(self, found)

    monkeypatch.setattr(Registry, "_passed", note)
    return names


async def test_a_client_logs_in_again_only_over_nats(
    three: list[RunningServer], checked: list[str], request: pytest.FixtureRequest
) -> None:
    async with chatting(three) as match:
        assert set(checked) == {"ada", "bob"}
        assert (len(checked) == 2) == (request.node.callspec.params["three"] == "handed over")
        await match.finish()


async def test_a_client_that_is_banned_on_the_way_is_removed(
    two: list[RunningServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    give = Handover.give

    def ban(self: Handover, *words: Any) -> bool:
        monkeypatch.setattr(Bans, "refusal", lambda *_: "it cheats")
        return give(self, *words)

    monkeypatch.setattr(Handover, "give", ban)
    ada, bob = [await registered(two[0], name) | NOTICES for name in ("ada", "bob")]
    async with bot(two[0], ada) as one, bot(two[1], bob) as other:
        ends = [asyncio.ensure_future(each.until_closed()) for each in (one, other)]
        done, waiting = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in waiting:  # the client at the home of their wish does not move
            end.cancel()
        assert [end.result()[0][-1] for end in done] == [{"error": "it cheats"}]
