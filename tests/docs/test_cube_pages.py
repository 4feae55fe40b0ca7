"""The example bots and organisers of the Battlecube pages play with each other."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from tools.socketio import CLIENTS, install_clients, node

from botdrome.kit.rehearsal import free_ports
from tests.docs.pages import blocks
from tests.server.clients import PATIENCE, server

pytestmark = pytest.mark.anyio
BOTS, ORGANISERS = "bots-over-http.md", "organising-battlecube-games.md"


async def until_it_listens(port: int, process: asyncio.subprocess.Process) -> None:
    async with asyncio.timeout(2 * PATIENCE):
        while True:
            assert process.returncode is None
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionRefusedError:
                await asyncio.sleep(0.05)
            else:
                return writer.close()


@asynccontextmanager
async def page_bot(folder: Path, language: str) -> AsyncIterator[str]:
    """Run the page's bot in a process and yield its URL."""
    (code,) = blocks(BOTS, language)
    file = folder / ("bot.py" if language == "python" else "bot.js")
    file.write_text(code)
    (port,) = free_ports(1)
    process = await asyncio.create_subprocess_exec(
        sys.executable if language == "python" else node(), str(file), str(port)
    )
    try:
        await until_it_listens(port, process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        await process.wait()


async def output(*words: str, folder: Path) -> str:
    process = await asyncio.create_subprocess_exec(
        *words, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    stdout, stderr = await asyncio.wait_for(process.communicate(), 3 * PATIENCE)
    assert process.returncode == 0, stderr.decode()
    return stdout.decode()


@pytest.mark.parametrize("version", ["2.0.3", "4.8.4"])
async def test_the_organiser_in_javascript_has_the_bots_of_the_page_play(
    tmp_path: Path, version: str
) -> None:
    (tmp_path / "organiser.js").write_text(blocks(ORGANISERS, "javascript")[0])
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "socket.io-client").symlink_to(
        install_clients(CLIENTS) / "node_modules" / f"client-{version}"
    )
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(server(tmp_path))
        urls = [
            await stack.enter_async_context(page_bot(tmp_path, language))
            for language in ("python", "javascript")
        ]
        told = await output(
            node(), "organiser.js", house.url, *urls, "house:survivor", folder=tmp_path
        )
    assert "tick 0: 3 bots" in told
    assert len(re.findall(r"^Player \d: \d+ ticks$", told, re.MULTILINE)) == 3
    assert "VALIDATION" not in told
    assert "CONNECTION" not in told


async def test_the_organiser_in_python_plays_several_games_at_once(tmp_path: Path) -> None:
    (tmp_path / "organiser.py").write_text(blocks(ORGANISERS, "python")[0])
    async with server(tmp_path) as house, page_bot(tmp_path, "python") as url:
        told = await output(
            sys.executable, "organiser.py", house.url, "3", url, "house:random", folder=tmp_path
        )
    assert sum(map(int, re.findall(r"(\d) of 3", told))) == 3
