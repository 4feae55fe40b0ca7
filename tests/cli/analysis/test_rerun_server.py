"""`botdrome rerun` with a match on a real server."""

import asyncio
from pathlib import Path

import pytest

from botdrome.store.entries import Wanted
from tests.cli.analysis.files import FIRST_FREE, bot_file
from tests.cli.commands import run_beside
from tests.server.clients import bot, play_noughts, registered, server

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_a_match_on_a_server_is_named_by_its_id(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        logins = [await registered(house, name) for name in ("ada", "bob")]
        async with bot(house, logins[0]) as one, bot(house, logins[1]) as two:
            await asyncio.gather(play_noughts(one, "ada"), play_noughts(two, "bob"))
        (match,) = await house.arena.store.matches(Wanted())
        words = (
            "rerun",
            match.id,
            bot_file(tmp_path, FIRST_FREE),
            "--server",
            house.url,
            "--player",
        )
        result = await run_beside(*words, "ada")
        assert result.exit_code == 0, result.stdout + result.stderr
        assert f"{match.id}: " in result.stdout
        missing = await run_beside("rerun", "nothing", *words[2:], "ada")
        assert missing.exit_code == 2
        assert missing.stderr.startswith("botdrome: nothing: ")
