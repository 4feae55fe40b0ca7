"""The page on the Bomberman API: its bot plays whole games, and it lists all settings."""

import asyncio
import sys
from pathlib import Path

import pytest

from botdrome.server.rooms.bomber_room import KEYS
from botdrome.store.entries import Wanted
from botdrome.wire.bomber.rules import PARAMETERS
from tests.docs.pages import DOCS, blocks
from tests.server.clients import PATIENCE, server

pytestmark = pytest.mark.anyio
PAGE = "the-bomberman-api.md"


async def test_the_bot_of_the_page_plays_a_whole_game(tmp_path: Path) -> None:
    (code,) = blocks(PAGE, "python")
    (tmp_path / "bot.py").write_text(code)
    rooms = "default:players=2,registration=3600,round=60000,early=1,rounds=60,closing=40,rest=3600"
    async with server(tmp_path, bomber_rooms=rooms, bomber_port=-1) as house:
        url = f"http://127.0.0.1:{house.ports['bomber']}/bomber/rest"
        outputs = []
        for name in ("Ada", "Bob"):
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                str(tmp_path / "bot.py"),
                url,
                name,
                f"secret of {name}",
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            outputs.append(process.communicate())
        for stdout, stderr in await asyncio.wait_for(asyncio.gather(*outputs), 3 * PATIENCE):
            assert stdout.startswith(b"winner: "), stderr.decode()
            assert b"'Ada': " in stdout
        (match,) = await house.arena.store.matches(Wanted())
        view = match.view
        assert view is not None
        assert sum(user["crates"] for user in view["users"]) > 0, "they have opened crates"


def test_the_page_names_every_key_of_a_room_and_every_parameter() -> None:
    page = (DOCS / PAGE).read_text()
    for word in (*KEYS[1:], *PARAMETERS):
        assert f"`{word}" in page
