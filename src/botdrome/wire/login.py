"""Login: the first message of the native protocol."""

from typing import Any

import msgspec
from msgspec import Struct

from botdrome.formats import FORMATS, Format
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption
from botdrome.games.options import with_options
from botdrome.wire.battlebot import game_type

FAILED = b'{"authentication":"failed"}'
GAMES = {game_type(name): row for name, row in FORMATS.items()}


class Login(Struct, frozen=True):
    format: Format
    name: str
    password: str
    message: dict[str, Any]
    """As it was sent."""
    players: int
    options: dict[str, Any]
    contest: str | None
    opponent: str | None
    match: str | None

    def answer(self) -> bytes:
        """The good one; a contest is echoed just as it was sent."""
        told = {"authentication": "OK", "gameType": self.message["gameType"], "name": self.name}
        return msgspec.json.encode(told | {key: self.message[key] for key in ("contest",) if key in self.message})


class BadLogin(Exception):
    """A login that fails. Why is said only where the original has no such key: its own failures are all alike."""

    def answer(self) -> bytes:
        why = str(self)
        return msgspec.json.encode({"authentication": "failed", "why": why}) if why else FAILED


def read_login(message: Any) -> Login:
    """The login in a message, or BadLogin. Falsy contests are none; any other than text fails."""
    if not isinstance(message, dict):
        raise BadLogin
    row = GAMES.get(_text(message, "gameType"))
    if row is None:
        raise BadLogin
    contest = message.get("contest") or None
    if contest is not None and not isinstance(contest, str):
        raise BadLogin
    options = _options(message.get("options"))
    players = _players(row, message.get("players"), options)
    opponent, match = (_wanted(message, key) for key in ("opponent", "match"))
    if opponent is not None and players != 2:
        raise BadLogin("an opponent can be named at a table of two only")
    return Login(row, _text(message, "name"), _text(message, "password"), message, players, options, contest, opponent, match)


def _text(message: dict[str, Any], key: str) -> str:
    value = message.get(key)
    if not isinstance(value, str):
        raise BadLogin
    return value


def _wanted(message: dict[str, Any], key: str) -> str | None:
    value = message.get(key)
    if value is not None and not isinstance(value, str):
        raise BadLogin(f"{key} is text")
    return value or None


def _options(given: Any) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise BadLogin("options is an object")
    return given


def _players(row: Format, given: Any, options: dict[str, Any]) -> int:
    """How many are to sit at the table, when the game can be set up so."""
    allowed = row.game.players
    players = max(2, allowed[0]) if given is None else given
    if type(players) is not int or players not in allowed:
        raise BadLogin(f"players is from {allowed[0]} to {allowed[-1]}")
    if options or given is not None:
        try:
            with_options(row.game, options).start(players, Chance(0))
        except BadOption as problem:
            raise BadLogin(str(problem)) from None
    return players
