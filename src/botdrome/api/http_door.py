"""HTTP door: a port for HTTP and WebSockets. The door serves WebSockets, uvicorn's protocol the requests of an application."""

import asyncio
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp
from uvicorn.server import ServerState

from botdrome.api.guests import HttpGuest
from botdrome.api.luggage import luggage_room
from botdrome.api.page_guard import PageGuard
from botdrome.server.network.door import Crowd, Door, MakeHttp, Reception
from botdrome.server.network.listening import MakeProtocol
from botdrome.server.network.origins import Origins
from botdrome.server.protocol import Shortcut
from botdrome.server.settings import Settings


def http_door(
    app: ASGIApp,
    reception: Reception,
    crowd: Crowd,
    settings: Settings,
    origins: Origins,
    shortcut: Shortcut = lambda *_: None,
) -> MakeProtocol:
    def door() -> Door:
        return Door(reception, http, crowd, settings, origins, lambda target: shortcut(target, door))

    http = http_stack(app, crowd, door, origins)
    return door


def http_stack(app: ASGIApp, crowd: Crowd, door: Callable[[], asyncio.Protocol], origins: Origins) -> MakeHttp:
    """Run uvicorn's protocol in our own loop. A connection that asks for a WebSocket after other requests goes back to `door`."""
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
