"""Versions of bots: an optional key in the logins of all protocols."""

from typing import Any

from botdrome.games.reading import shown

LONGEST_VERSION = 64


class BadVersion(ValueError):
    """The value is not the version of a bot; the message says what would be."""


def read_version(value: Any) -> str:
    """Return a version; empty: the login names none. Raise BadVersion."""
    if value is None:
        return ""
    if isinstance(value, str) and len(value) <= LONGEST_VERSION and value.isprintable():
        return value
    raise BadVersion(f"version is text of at most {LONGEST_VERSION} printable characters, not {shown(value)}")
