"""The example bots with a URL play, in every installed language."""

import asyncio
import shutil
import sys
from pathlib import Path

import pytest

from tests.docs.pages import blocks
from tests.server.clients import PATIENCE, bot, play_noughts, registered, server

pytestmark = pytest.mark.anyio
PAGE = "bots-with-a-url.md"


@pytest.mark.parametrize(
    ("language", "program"), [("python", sys.executable), ("javascript", shutil.which("node"))]
)
async def test_a_bot_of_the_page_plays(tmp_path: Path, language: str, program: str | None) -> None:
    if program is None:
        pytest.skip(f"{language} is not installed")
    (code,) = blocks(PAGE, language)
    file = tmp_path / "bot.js"
    file.write_text(code)
    process = await asyncio.create_subprocess_exec(
        program, str(file), "0", stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        url = (await asyncio.wait_for(process.stdout.readline(), 3 * PATIENCE)).decode().strip()
        async with server(tmp_path) as house:
            await house.arena.register("noughts-and-crosses", "Émile", "me", url)
            async with bot(house, await registered(house, "ada") | {"opponent": "Émile"}) as one:
                last = await play_noughts(one, "ada")
            assert last["state"]["result"] == {"reason": "complete", "victor": "ada"}
            said = await asyncio.wait_for(process.stdout.readline(), PATIENCE)
            assert b"complete" in said
    finally:
        process.terminate()
        await process.wait()
