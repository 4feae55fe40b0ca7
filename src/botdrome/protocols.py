"""The protocols that the server speaks, one row each, and the settings of all of them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from botdrome.server.boats.settings import BoatsSection
from botdrome.server.bomber.settings import BomberSection
from botdrome.server.cube.settings import CubeSection
from botdrome.server.duel.settings import DuelSection
from botdrome.server.settings import ProtocolSection, Settings
from botdrome.server.settings_sources import Note, read_settings


class Protocol(NamedTuple):
    name: str
    """Also the name of its section of settings."""
    section: type[ProtocolSection]


PROTOCOLS = {
    row.name: row
    for row in (
        Protocol("bomber", BomberSection),
        Protocol("cube", CubeSection),
        Protocol("duel", DuelSection),
        Protocol("boats", BoatsSection),
    )
}


def protocol_sections() -> dict[str, type[ProtocolSection]]:
    return {row.name: row.section for row in PROTOCOLS.values()}


def load_settings(
    flags: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
    file: Path | None = None,
    note: Note = lambda _: None,
) -> Settings:
    """Read the settings of the server and all protocols: see `read_settings`."""
    return read_settings(protocol_sections(), flags, environment or {}, file, note)
