"""The application on a real port of this machine, for what needs a real socket."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette

from tests.patience import PATIENCE


@asynccontextmanager
async def serving(app: Starlette) -> AsyncIterator[str]:
    """Host and port."""
    config = uvicorn.Config(
        app, host="127.0.0.1", port=0, log_config=None, ws="websockets-sansio", lifespan="off", access_log=False
    )
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await task


def under_way() -> list[asyncio.Task[Any]]:
    """Whoever answers something."""
    return [task for task in asyncio.all_tasks() if getattr(task.get_coro(), "__name__", "") == "run_asgi"]


async def until(condition: Callable[[], bool]) -> None:
    """Let others go on until it is so."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0)
