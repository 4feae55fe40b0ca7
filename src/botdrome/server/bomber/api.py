"""The entry points of the Bomberman API: an HTTP service and a WebSocket."""

from functools import partial

from botdrome.server.bomber.rooms import Rooms
from botdrome.server.bomber.routes import Routes, is_ours, refuse
from botdrome.server.bomber.socket import connect_socket
from botdrome.server.lobby.desk import Desk
from botdrome.server.network.http_exchange import HttpLimits, HttpResponse
from botdrome.server.network.http_request import HttpRequest
from botdrome.server.network.origins import Origins
from botdrome.server.network.websocket import MakeSession
from botdrome.server.protocol import ServedProtocol, ServerParts

LONGEST_BODY = 64 << 10


class BomberApi:
    """The Bomberman API. It is open to pages of any origin, since some bots are web pages."""

    player = True

    def __init__(self, desk: Desk, origins: Origins) -> None:
        self.rooms, self._origins = Rooms(desk), origins
        self.limits = HttpLimits(rate=desk.settings.message.rate, burst=desk.settings.message.burst)
        self.handle = Routes(self.rooms).handle
        self.serves, self.refuse = is_ours, refuse

    def longest_body(self, target: bytes) -> int:
        return LONGEST_BODY

    def streams(self, target: bytes) -> bool:
        return False

    def refusal(self, request: HttpRequest) -> HttpResponse | None:
        if not request.whole:
            return refuse(413, "BODY_TOO_LONG", f"the body of a request has at most {LONGEST_BODY} bytes")
        words = self._origins.host_refusal(request.headers.get(b"host"))
        return refuse(421, "UNKNOWN_HOST", words) if words else None

    def receive_socket(self, target: str) -> MakeSession | None:
        return partial(connect_socket, self.rooms, target) if is_ours(target.encode("latin-1")) else None

    async def close(self) -> None:
        await self.rooms.close()


async def open_bomber(server: ServerParts) -> ServedProtocol:
    api = BomberApi(server.desk, server.origins)
    return ServedProtocol(api, api.close, receive_socket=api.receive_socket, direct=api)
