"""The settings of the Bomberman API."""

from typing import Annotated, Any

from msgspec import Meta

from botdrome.server.settings import ProtocolSection


class BomberSection(ProtocolSection, frozen=True):
    """The Bomberman API"""

    port: Annotated[
        int,
        Meta(
            description="the Bomberman API alone, at the original's port; 0: off, -1: any free "
            "port",
            ge=-1,
            le=65535,
        ),
    ] = 9800
    rooms: Annotated[
        str | tuple[dict[str, Any], ...],
        Meta(
            description="the rooms, a `[[bomber.rooms]]` table each, or NAME:KEY=VALUE,KEY=VALUE "
            "separated by blanks"
        ),
    ] = "default"
    wait: Annotated[
        float, Meta(description="seconds that a request may wait for the next state", gt=0)
    ] = 25.0
    waits: Annotated[int, Meta(description="waiting requests from one address at a time", ge=1)] = (
        1000
    )
