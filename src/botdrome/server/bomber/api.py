"""The Bomberman API as the doors of the house know it."""

import asyncio
from collections.abc import Callable

from botdrome.server.bomber.asgi import Bridge
from botdrome.server.bomber.rooms import Rooms
from botdrome.server.bomber.routes import Routes, is_ours, refuse
from botdrome.server.bomber.socket import bomber_socket
from botdrome.server.lobby.desk import Desk
from botdrome.server.network.door import Crowd
from botdrome.server.network.gate import Gate, Limits
from botdrome.server.network.light_http import LightHttp
from botdrome.server.network.origins import Origins
from botdrome.server.network.websocket import MakeSession
from botdrome.server.protocol import ServedProtocol, ServerParts


class BomberApi:
    """It is open to pages of any origin: participants write their bots as pages, too."""

    def __init__(self, desk: Desk, crowd: Crowd, origins: Origins) -> None:
        self.rooms = Rooms(desk)
        self._handle = Routes(self.rooms).handle
        self._crowd, self._origins = crowd, origins
        self._limits = Limits(rate=desk.settings.message.rate, burst=desk.settings.message.burst)
        self.asgi = Bridge(self._handle, refuse)

    def shortcut(self, target: bytes, elsewhere: Callable[[], asyncio.Protocol]) -> asyncio.Protocol | None:
        """Who serves a request for this target; None: it is for somebody else. `elsewhere` takes what follows and is not ours."""
        if not is_ours(target):
            return None
        crowd, refusal = self._crowd, self._origins.host_refusal
        return LightHttp(Gate(self._handle, refuse, is_ours, elsewhere, crowd.admit, crowd.leave, self._limits, refusal))

    def receive_socket(self, target: str) -> MakeSession | None:
        return bomber_socket(self.rooms, target) if is_ours(target.encode("latin-1")) else None

    async def close(self) -> None:
        await self.rooms.close()


async def open_bomber(server: ServerParts) -> ServedProtocol:
    api = BomberApi(server.desk, server.crowd, server.origins)
    return ServedProtocol(api, api.close, apps={"/bomber": api.asgi}, receive_socket=api.receive_socket, shortcut=api.shortcut)
