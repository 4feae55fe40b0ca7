"""The settings of the Bomberman API and of its rooms."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from botdrome.games.bomberman import Bomberman
from botdrome.games.game import BadOption
from botdrome.games.options import unusual, with_options
from botdrome.match.terms import Pace, Terms
from botdrome.server.settings import BadSetting, ProtocolSection

Name = Annotated[str, Meta(pattern="^[A-Za-z0-9_.-]{1,32}$")]


class BomberRoomSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Name = "default"
    players: Annotated[int, Meta(description="seats; a full room starts at once", ge=2, le=8)] = 4
    least: Annotated[int, Meta(description="users without whom no game starts", ge=2, le=8)] = 2
    registration: Annotated[
        float, Meta(description="seconds from the first registration to the start", gt=0, le=86400)
    ] = 10.0
    round: Annotated[int, Meta(description="milliseconds", ge=10, le=60_000)] = 200
    rest: Annotated[
        float,
        Meta(description="seconds from the end of a game to the next registration", ge=0, le=3600),
    ] = 5.0
    house: Annotated[bool, Meta(description="house bots take the free seats")] = False
    early: Annotated[
        bool, Meta(description="a round ends as soon as all living users have acted")
    ] = False
    wrapped_responses: Annotated[
        bool, Meta(description="DECLINED, with the word as information, for all that is refused")
    ] = False
    options: dict[str, Any] = {}
    """Options of the game that differ from the defaults."""

    @property
    def game(self) -> Bomberman:
        return with_options(Bomberman(), self.options)

    @property
    def terms(self) -> Terms:
        return Terms(Pace(self.round, beat=not self.early), late="pass", gone="pass")

    def shown(self) -> dict[str, Any]:
        """Return the settings without the options of the game."""
        return {key: getattr(self, key) for key in KEYS}


KEYS = tuple(field for field in BomberRoomSettings.__struct_fields__ if field != "options")


def read_room_settings(
    rooms: str | Sequence[Mapping[str, Any]], house: bool
) -> list[BomberRoomSettings]:
    """Parse one table per room, or a text: `NAME` or `NAME:KEY=VALUE,KEY=VALUE`, with blanks
    between rooms.

    Keys are settings of a room or options of the game.
    """
    tables = [_table(word) for word in rooms.split()] if isinstance(rooms, str) else rooms
    found = [_room_settings(table, house) for table in tables]
    names = [room.name for room in found]
    if not found or len(set(names)) < len(names):
        raise BadSetting(
            "bomber.rooms: there is at least one room, and each has a name of its own, not "
            f"{rooms!r}"
        )
    return found


def _table(word: str) -> dict[str, Any]:
    name, _, rest = word.partition(":")
    return {"name": name} | {
        key: value for key, _, value in (pair.partition("=") for pair in rest.split(",") if pair)
    }


def _room_settings(table: Mapping[str, Any], house: bool) -> BomberRoomSettings:
    name = table.get("name", "default")
    known: dict[str, Any] = {"house": house} | {
        key: value for key, value in table.items() if key in KEYS
    }
    options = {key: value for key, value in table.items() if key not in KEYS}
    try:
        game = with_options(Bomberman(), options)
        settings = msgspec.convert(
            known | {"options": unusual(game)}, BomberRoomSettings, strict=False
        )
        for players in range(settings.least, settings.players + 1):
            game.check(players)
    except (msgspec.ValidationError, BadOption) as problem:
        raise BadSetting(f"bomber.rooms: {name}: {problem}") from None
    if settings.least > settings.players:
        raise BadSetting(f"bomber.rooms: {name}: least is more than players")
    return settings


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
