"""The protocols that the server speaks, one row each. docs/adding-a-protocol.md shows how to add
one.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from botdrome.api.socketio import open_cube
from botdrome.server.battlebot import open_battlebot
from botdrome.server.protocol import Protocol
from botdrome.server.rooms.boat_settings import BoatsSection
from botdrome.server.rooms.boats import open_boats
from botdrome.server.rooms.bomber_api import open_bomber
from botdrome.server.rooms.bomber_room import BomberSection
from botdrome.server.rooms.cube import CubeSection
from botdrome.server.rooms.duel import DuelSection, open_duel
from botdrome.server.settings import Note, ProtocolSection, Settings, read_settings

PROTOCOLS = (
    Protocol(
        "bomber", open_bomber, BomberSection, "Bomberman API", "Bomberman over HTTP", "/bomber/rest"
    ),
    Protocol(
        "cube",
        open_cube,
        CubeSection,
        "Battlecube's own port",
        "Battlecube (socket.io)",
        "/socket.io/",
    ),
    Protocol("duel", open_duel, DuelSection, "duel arena (TCP)"),
    Protocol("boats", open_boats, BoatsSection, "boat games (TCP)", port_name="xbs"),
    Protocol(
        "battlebot", open_battlebot
    ),  # the last, as it takes the WebSockets of all other targets
)


def protocol_sections(
    protocols: Sequence[Protocol] = PROTOCOLS,
) -> dict[str, type[ProtocolSection]]:
    return {row.name: row.section for row in protocols if row.section is not None}


def load_settings(
    flags: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
    file: Path | None = None,
    note: Note = lambda _: None,
    protocols: Sequence[Protocol] = PROTOCOLS,
) -> Settings:
    """Read the settings of the server and all protocols: see `read_settings`."""
    return read_settings(protocol_sections(protocols), flags, environment or {}, file, note)
