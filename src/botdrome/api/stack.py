"""The HTTP stack: uvicorn's protocol for an application, inside our own loop."""

import asyncio
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp
from uvicorn.server import ServerState

from botdrome.api.guests import HttpGuest
from botdrome.api.luggage import luggage_room
from botdrome.api.page_guard import PageGuard
from botdrome.api.socket_guests import socket_guests
from botdrome.server.network.door import Crowd, MakeHttp
from botdrome.server.network.origins import Origins

LONGEST_MESSAGE = 1 << 20
"""Bytes of one WebSocket message, unpacked; who listens may want less."""


def http_stack(app: ASGIApp, crowd: Crowd, door: Callable[[], asyncio.Protocol], origins: Origins) -> MakeHttp:
    """Whoever wants a WebSocket after other requests is sent back to the `door`."""
    config = uvicorn.Config(
        PageGuard(app, origins),
        http="httptools",
        ws=socket_guests(crowd),
        ws_max_size=LONGEST_MESSAGE,
        proxy_headers=False,  # see server/network/proxies.py
        log_config=None,
        access_log=False,
        lifespan="off",
    )
    config.load()
    state, loop, room = ServerState(), asyncio.get_running_loop(), luggage_room()
    return lambda: HttpGuest(crowd, door, room, config, state, {}, loop)
