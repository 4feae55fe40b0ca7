"""The example bots of the WebSocket page play, in every installed language."""

import asyncio
from pathlib import Path

import pytest

from tests.docs.programs import command, java
from tests.server.clients import PATIENCE, registered, server

pytestmark = pytest.mark.anyio
PAGE = "bots-over-websocket.md"


@pytest.mark.parametrize("language", ["python", "javascript", java("java")])
async def test_a_bot_of_the_page_plays_a_match(tmp_path: Path, language: str) -> None:
    words = command(PAGE, tmp_path, language)
    if not words:
        pytest.skip(f"{language} is not installed")
    async with server(tmp_path) as house:
        url = house.url.replace("http", "ws", 1)
        outputs = []
        for name in ("ada", "bob"):
            login = await registered(house, name)
            process = await asyncio.create_subprocess_exec(
                *words,
                url,
                name,
                login["password"],
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            outputs.append(process.communicate())
        results = await asyncio.wait_for(asyncio.gather(*outputs), 3 * PATIENCE)
        for stdout, stderr in results:
            assert b"complete" in stdout, stderr.decode()
