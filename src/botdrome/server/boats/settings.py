"""The settings of Xterm Boat Sinker."""

from typing import Annotated

from msgspec import Meta

from botdrome.server.boats.plan import RoomPlan
from botdrome.server.settings import ProtocolSection


class BoatsSection(ProtocolSection, frozen=True):
    """Boat games (Xterm Boat Sinker)"""

    port: Annotated[
        int,
        Meta(description="Xterm Boat Sinker's lines; 0: off, -1: any free port", ge=-1, le=65535),
    ] = 7948
    rooms: Annotated[
        tuple[RoomPlan, ...],
        Meta(description="the rooms, a `[[boats.rooms]]` table each; empty: one, for two players"),
    ] = ()
    dir: Annotated[
        str, Meta(description="a folder for ini files with the statistics; empty: none")
    ] = ""
    host_token: Annotated[
        str, Meta(description="the token that `botdrome host` needs; empty: it cannot connect")
    ] = ""
