"""The settings of Battlecube."""

from typing import Annotated

from msgspec import Meta

from botdrome.server.settings import ProtocolSection


class CubeSection(ProtocolSection, frozen=True):
    """Battlecube (socket.io)"""

    port: Annotated[
        int,
        Meta(
            description="socket.io alone, at the original's port; 0: off, -1: any free port",
            ge=-1,
            le=65535,
        ),
    ] = 9999
    limit: Annotated[
        float, Meta(description="seconds that a bot has for a whole answer", ge=0.001)
    ] = 5.0
    games: Annotated[
        int, Meta(description="games that one organiser may run, or watch, at once", ge=1)
    ] = 100
    keep: Annotated[
        float, Meta(description="seconds that a game goes on after its organiser has left", ge=0)
    ] = 300.0
    pause_limit: Annotated[
        float, Meta(description="seconds that a game may be paused before it is resumed", gt=0)
    ] = 3600.0
    ping_interval: Annotated[
        float, Meta(description="seconds between two heartbeats of socket.io", ge=0.05)
    ] = 25.0
    ping_timeout: Annotated[
        float, Meta(description="seconds that a heartbeat of socket.io may be late", ge=0.05)
    ] = 60.0
    longest_message: Annotated[
        int, Meta(description="bytes of one message, or of one POST, over socket.io", ge=256)
    ] = 100_000
