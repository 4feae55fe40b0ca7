"""The settings of boat games and of their rooms, and the configuration files of the original."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from botdrome.catalogue import CATALOGUE
from botdrome.games.battleship import Battleship, boats_in
from botdrome.games.game import BadOption
from botdrome.games.options import options_in, unusual, with_options
from botdrome.match.terms import Pace, Terms
from botdrome.server.settings import AnyPort, ProtocolSection
from botdrome.wire.boats.lines import BLANKS, Offer

LONGEST_TITLE = 60
ORIGINAL_KEYS = {
    "name": "title", "minPlayers": "min", "maxPlayers": "max", "pointGoal": "goal",
    "width": "width", "height": "height", "boat": "boats", "ship": "boats",
}  # fmt: skip
"""Keys in files of the original."""


class BadRoomSettings(Exception):
    """Settings or a file of the original that describe no room, with the reason."""


class BoatRoomSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a room, checked when they are made."""

    title: str = "Botdrome"
    port: AnyPort = 0
    """0: the port shared by all rooms; -1: any free port."""
    width: int = 10
    height: int = 10
    boats: str = "A5 B4 C3 D3 E2"
    goal: int = 0
    """Hits that end a game; 0: all squares of a fleet."""
    min: Annotated[int, Meta(ge=2)] = 2
    max: int = 2
    auto_start: bool = True
    """A full game starts by itself. Otherwise the host starts it."""
    repeat: bool = True
    """Games follow each other. Otherwise there is only one."""
    tables: Annotated[int, Meta(ge=0)] = 0
    """Most games at once; 0: any number."""
    turn_limit: Annotated[float, Meta(ge=0)] = 60.0
    """Seconds before a turn is skipped; 0: never."""
    absence: Annotated[float, Meta(ge=0)] = 5.0
    """Seconds before the first turn of an absent player is skipped; its next turns are skipped at
    once.
    """
    house_wait: Annotated[float, Meta(ge=0)] = 5.0
    """Seconds after the last player joined before house bots take the free seats, with
    `house.fill`.
    """

    def __post_init__(self) -> None:
        """Raise ValueError if the settings do not fit together."""
        if (
            not self.title.strip()
            or "|" in self.title
            or not self.title.isprintable()
            or len(self.title) > LONGEST_TITLE
        ):
            raise ValueError(f"a title has 1 to {LONGEST_TITLE} printable characters and no |")
        if not self.min <= self.max < Battleship.players.stop:
            raise ValueError(
                f"{self.title}: max is from min ({self.min}) to {Battleship.players[-1]}"
            )
        try:
            with_options(Battleship(), options_in(self.game)).check(self.max)
        except BadOption as problem:
            raise ValueError(f"{self.title}: {problem}") from None

    @property
    def game(self) -> Battleship:
        return Battleship(width=self.width, height=self.height, boats=self.boats, goal=self.goal)

    @property
    def options(self) -> dict[str, Any]:
        """Options that differ from their defaults."""
        return unusual(self.game)

    @property
    def terms(self) -> Terms:
        limit = round(self.turn_limit * 1000) or None
        pace = Pace(limit, first=limit or 60_000)
        return msgspec.structs.replace(
            CATALOGUE["battleship"].terms,
            pace=pace,
            absence=round(self.absence * 1000),
            early_end=True,
        )

    @property
    def offer(self) -> Offer:
        boats = boats_in(self.boats)
        goal = self.goal or boats.squares
        return Offer(self.title, self.min, self.max, goal, self.width, self.height, boats)


def pairs_in(text: str) -> dict[str, list[str]]:
    """Read `key=value` lines; a key may be repeated, and # begins a comment.

    A player's name in a key may contain a =, but then its value does not.
    """
    pairs: dict[str, list[str]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip(BLANKS)
        if bare and not bare.startswith("#"):
            key, sign, word = (
                bare.rpartition("=") if bare.startswith("player.") else bare.partition("=")
            )
            if not sign:
                raise BadRoomSettings(f"line {number}: {bare!r} is not key=value")
            pairs.setdefault(key.strip(BLANKS), []).append(word.strip(BLANKS))
    return pairs


def original_settings(text: str) -> dict[str, Any]:
    """Read a configuration file or a statistics file of the original."""
    pairs = pairs_in(text)
    if "name" not in pairs or not pairs.keys() & {"boat", "ship"}:
        raise BadRoomSettings("a configuration has a name and boats")
    return {
        ours: _original(theirs, pairs[theirs])
        for theirs, ours in ORIGINAL_KEYS.items()
        if theirs in pairs
    }


def _original(key: str, words: Sequence[str]) -> str | int:
    if key == "name":
        return words[-1]
    if key in ("boat", "ship"):
        return " ".join(words)
    if not words[-1].isdecimal() or len(words[-1]) > 9:
        raise BadRoomSettings(f"{key}: {words[-1]!r} is not a number")
    return int(words[-1])


def room_settings(values: Mapping[str, Any]) -> BoatRoomSettings:
    """Return the settings with these values, or raise BadRoomSettings."""
    try:
        return msgspec.convert(dict(values), BoatRoomSettings)
    except msgspec.ValidationError as problem:
        words, _, where = str(problem).partition(" - at ")
        key = where.strip("`").removeprefix("$").lstrip(".")
        raise BadRoomSettings(
            f"{key}: {words[:1].lower()}{words[1:]}, not {values[key]!r}"
            if key in values
            else words
        ) from None


class BoatsSection(ProtocolSection, frozen=True):
    """Boat games (Xterm Boat Sinker)"""

    port: AnyPort = 7948
    """Xterm Boat Sinker's lines; 0: off, -1: any free port"""
    rooms: tuple[BoatRoomSettings, ...] = ()
    """the rooms, a `[[boats.rooms]]` table each; empty: one, for two players"""
    dir: str = ""
    """a folder for ini files with the statistics; empty: none"""
    host_token: str = ""
    """the token that `botdrome boats host` needs; empty: it cannot connect"""
