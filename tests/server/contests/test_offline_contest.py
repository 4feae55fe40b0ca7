"""A contest that was played offline is shown by a server that opens its store, and not played."""

from pathlib import Path

import pytest

from botdrome.contest.document import document_from
from botdrome.contest.formats.format import Entrant
from botdrome.store.contest_journal import ContestRefusal
from tests.server.clients import server
from tests.server.contests.entrants import CUP

pytestmark = pytest.mark.anyio


async def test_a_server_shows_it_and_leaves_it_to_its_organiser(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        journal = house.contests.journal
        await journal.create(
            document_from(CUP), "olga", [Entrant("ada"), Entrant("bob")], offline=True
        )
        await journal.change_state("cup", "running", "olga")
    async with server(tmp_path) as house:
        assert (
            len(house.contests.known("cup").entrants) == 2 and house.contests.running("cup") is None
        )
        with pytest.raises(
            ContestRefusal, match="runs offline: continue it with `botdrome contest run`"
        ):
            await house.contests.act("cup", "pause", "operator")
        with pytest.raises(ContestRefusal, match="runs offline"):
            await house.contests.change("cup", document_from(CUP), "operator")
