"""The bots of the page on WebSockets play, in every language that is there."""

import asyncio
import shutil
import sys
from pathlib import Path

import pytest

from tests.docs.test_pages import blocks
from tests.server.clients import PATIENCE, registered, server

pytestmark = pytest.mark.anyio
PAGE = "bots-over-websocket.md"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def command(folder: Path, language: str) -> list[str]:
    """How to run the page's bot in a language; nothing if that is not installed."""
    (code,) = blocks(PAGE, language)
    if language == "python":
        (folder / "bot.py").write_text(code)
        return [sys.executable, str(folder / "bot.py")]
    if language == "javascript":
        (folder / "bot.js").write_text(code)
        return ["node", "--experimental-websocket", str(folder / "bot.js")] if shutil.which("node") else []
    (folder / "Bot.java").write_text(code)
    return ["java", str(folder / "Bot.java")] if shutil.which("java") else []


@pytest.mark.parametrize("language", ["python", "javascript", "java"])
async def test_a_bot_of_the_page_plays_a_match(tmp_path: Path, language: str) -> None:
    words = command(tmp_path, language)
    if not words:
        pytest.skip(f"there is no {language} here")
    async with server(tmp_path) as house:
        url = house.url.replace("http", "ws", 1)
        outputs = []
        for name in ("ada", "bob"):
            login = await registered(house, name)
            process = await asyncio.create_subprocess_exec(
                *words, url, name, login["password"], stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
            )
            outputs.append(process.communicate())
        results = await asyncio.wait_for(asyncio.gather(*outputs), 3 * PATIENCE)
        for stdout, stderr in results:
            assert b"complete" in stdout, stderr.decode()
