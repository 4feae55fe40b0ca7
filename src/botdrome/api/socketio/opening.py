"""How socket.io is opened: as a part of a server, and on a port of its own."""

from collections.abc import Callable

from starlette.applications import Starlette
from starlette.routing import Mount

from botdrome.api.socketio.app import PATH, SocketIo
from botdrome.api.socketio.hub import Hub
from botdrome.api.socketio.limits import limits_in
from botdrome.api.stack import http_stack
from botdrome.api.turnstile import RequestRate, Turnstile
from botdrome.server.cube.connection import Organiser
from botdrome.server.network.door import Crowd, Door
from botdrome.server.network.origins import Origins
from botdrome.server.settings import Settings


def make_socketio(organiser: Organiser, settings: Settings, crowd: Crowd) -> SocketIo:
    """An ASGI application; its WebSockets come by `receive_socket`, from the door."""
    return SocketIo(Hub(organiser, limits_in(settings), crowd))


def socketio_door(socketio: SocketIo, crowd: Crowd, settings: Settings, origins: Origins) -> Callable[[], Door]:
    """A door behind which there is socket.io and nothing else."""

    def door() -> Door:
        return Door(lambda target, _: socketio.receive_socket(target), http, crowd, settings, origins)

    app = Starlette(routes=[Mount(PATH.rstrip("/"), socketio)])
    http = http_stack(Turnstile(app, RequestRate(settings), socketio.has_session), crowd, door, origins)
    return door
