"""Seek: a Battlebot client's wish for a table."""

from msgspec import Struct

from botdrome.wire.battlebot.login import Login
from botdrome.wire.conversation import Command


class Seek(Struct, Command, frozen=True):
    """Find a table as the login says, or return to the match that it names."""

    login: Login
