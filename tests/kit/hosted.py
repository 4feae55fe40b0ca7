"""Uploads to a real server, and runners with the real sandbox."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from botdrome.app import RunningServer
from botdrome.client.guard import descendants
from botdrome.client.rest import RestServer, segment
from botdrome.client.sandbox import SANDBOXED
from botdrome.kit.runner import Runner
from botdrome.offline.isolation import Isolation
from botdrome.wire.upload import PackedFile, RunnerMachine, packed
from tests.patience import PATIENCE, PAUSE
from tests.server.clients import bot, play_noughts, registered

GAME = "noughts-and-crosses"
HOSTING: Any = {"hosting_uploads": "everybody", "ladder_wait": 3600.0}
IN_SANDBOX = Isolation(sandbox=True, limits=SANDBOXED)
FIRST_FREE = """
import sys
def bot(view):
    print("I look at", view["you"], file=sys.stderr)
    for row in range(3):
        for column in range(3):
            if not view["board"][row][column]:
                return {"mark": view["marks"][view["you"]], "space": [row, column]}
"""


class Author:
    """The author of a bot."""

    def __init__(self, house: RunningServer, name: str, token: str) -> None:
        self._house, self.name, self.token = house, name, token

    @classmethod
    async def of_new_bot(cls, house: RunningServer, name: str = "ada", owner: str = "") -> "Author":
        _, token = await house.arena.register(GAME, name, owner)
        return cls(house, name, token)

    async def ask(
        self, method: str, path: str = "uploads", token: str | None = None, **options: Any
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.token if token is None else token}"}
        url = f"{self._house.url}/api/v1/{path}/{segment(self.name)}"
        async with httpx.AsyncClient() as http:
            return await http.request(method, url, headers=headers, **options)

    async def push(self, code: str = FIRST_FREE, version: str = "", **files: str) -> int:
        """Upload a bot in Python, and further files by name, such as `bot.toml`."""
        whole = {"bot.py": code} | files
        archive = packed({name: PackedFile(text.encode()) for name, text in whole.items()})
        query = {"version": version} if version else {}
        answer = await self.ask("POST", content=archive, params=query)
        assert answer.status_code == 201, answer.text
        return int(answer.json()["number"])

    async def uploads(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self.ask("GET")).json()["uploads"]
        return found

    async def until(self, **wanted: Any) -> dict[str, Any]:
        """Wait until the newest version is like this."""
        async with asyncio.timeout(PATIENCE):
            while True:
                newest = (await self.uploads())[0]
                if {key: newest[key] for key in wanted} == wanted:
                    return newest
                await asyncio.sleep(10 * PAUSE)


@asynccontextmanager
async def running(
    house: RunningServer, folder: Path, name: str = "one", isolation: Isolation = IN_SANDBOX
) -> AsyncIterator[Runner]:
    """A runner in this process."""
    token = await house.arena.hosting.add_runner(name)
    machine = RunnerMachine("a test", "fast", 1.5)
    builds = folder / f"builds of {name}"
    runner = Runner(RestServer(house.url), token, builds, isolation, 50, machine)
    task = asyncio.ensure_future(runner.run())
    try:
        yield runner
    finally:
        task.cancel()
        await asyncio.wait([task])


async def play_against(house: RunningServer, name: str = "bob", opponent: str = "ada") -> Any:
    """Let a client play a match against the hosted bot."""
    login = await registered(house, name) | {"opponent": opponent}
    async with bot(house, login) as one:
        return await play_noughts(one, name)


def sandboxes() -> list[int]:
    """The processes of bots that this process has started."""
    found = []
    for one in descendants(os.getpid()):
        with suppress(OSError):  # it has just ended
            if "bwrap" in Path(f"/proc/{one}/cmdline").read_text():
                found.append(one)
    return found
