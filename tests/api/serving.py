"""The application on a real port of this machine, for tests that need a real socket."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from botdrome.api.app import NO_SOCKET, Api
from botdrome.api.http_server import http_factory
from botdrome.api.request_checks import RequestChecks, RequestRate
from botdrome.server.network.limits import ConnectionLimits
from botdrome.server.network.listening import stop
from botdrome.server.network.origins import Origins
from botdrome.server.settings import Settings


@asynccontextmanager
async def serving(app: Api) -> AsyncIterator[str]:
    """Host and port."""
    settings = Settings()
    limits, origins = ConnectionLimits(settings), Origins(settings)

    make = http_factory(
        RequestChecks(app, origins, RequestRate(settings)),
        lambda target, headers: app.receive_socket(target, headers) or NO_SOCKET,
        limits,
        settings,
        origins,
    )
    server = await asyncio.get_running_loop().create_server(make, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        stop(server)


def under_way() -> list[asyncio.Task[Any]]:
    """Requests that are being answered."""
    return [
        task
        for task in asyncio.all_tasks()
        if getattr(task.get_coro(), "__name__", "") == "run_asgi"
    ]
