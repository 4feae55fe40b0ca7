"""The HTTP stack: uvicorn's protocol for an application, inside our own loop."""

import asyncio
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp
from uvicorn.server import ServerState

from botdrome.api.guests import HttpGuest
from botdrome.api.luggage import luggage_room
from botdrome.api.page_guard import PageGuard
from botdrome.server.network.door import Crowd, MakeHttp
from botdrome.server.network.origins import Origins


def http_stack(app: ASGIApp, crowd: Crowd, door: Callable[[], asyncio.Protocol], origins: Origins) -> MakeHttp:
    """Whoever wants a WebSocket after other requests is sent back to the `door`."""
    config = uvicorn.Config(
        PageGuard(app, origins),
        http="httptools",
        ws="none",  # the door opens all WebSockets
        proxy_headers=False,  # see server/network/proxies.py
        log_config=None,
        access_log=False,
        lifespan="off",
    )
    config.load()
    state, loop, room = ServerState(), asyncio.get_running_loop(), luggage_room()
    return lambda: HttpGuest(crowd, door, room, config, state, {}, loop)
