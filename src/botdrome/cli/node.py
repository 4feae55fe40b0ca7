"""A node that `botdrome serve --workers N` starts: a server whose ports are shared with the other
nodes.
"""

import os
import socket
import sys
from pathlib import Path
from typing import Any

from msgspec import Struct, json

from botdrome.app import RunningServer, serve
from botdrome.cli.logs import configure_logs
from botdrome.cli.serve import complaining, show
from botdrome.cli.terminal import REFUSED, Terminal
from botdrome.protocols import load_settings
from botdrome.server.network.steady_loop import run
from botdrome.server.nodes.shared_ports import SharedPorts
from botdrome.server.settings import Settings


class NodeOrder(Struct):
    """The first line that a node reads."""

    flags: dict[str, Any]
    config: str | None
    first: bool
    """The first node shows the start-up screen."""


async def _serve(
    settings: Settings, first: bool, control: socket.socket, sockets: socket.socket
) -> None:
    shared = SharedPorts(control, sockets)
    await shared.open()

    def opened(server: RunningServer) -> None:
        if first:
            show(server, Terminal(stderr=True))
        shared.opened()

    try:
        await serve(settings, opened, shared)
    finally:
        shared.close()


def run_node(control: socket.socket, sockets: socket.socket) -> int:
    line = b""
    while not line.endswith(b"\n"):
        if not (data := control.recv(1 << 16)):
            return REFUSED
        line += data
    order = json.decode(line, type=NodeOrder)
    settings = load_settings(order.flags, os.environ, Path(order.config) if order.config else None)
    configure_logs(settings)
    run(_serve(settings, order.first, control, sockets))
    return 0


if __name__ == "__main__":
    ends = [socket.socket(fileno=int(handle)) for handle in sys.argv[1:]]
    sys.exit(complaining(lambda: run_node(*ends)))
