"""Checks for the messages of Battlecube's organisers, with the error messages of the original. The first fault is reported."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from botdrome.games.battlecube import A_NUMBER
from botdrome.games.reading import bounded, shown

Path = tuple[str | int, ...]
"""The keys that lead to a value."""
Check = Callable[[Any, Path], Any]
"""From a value and its path to the value in its type, or Fault."""
Details = str | list[dict[str, Any]]

INVALID = "INVALID_GAME_CONFIGURATION"
MISSING = object()
LONGEST_ECHO = 400
"""Bytes of a faulty value that are sent back."""
URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*")
OURS = re.compile(r"(house|bot|connect):.+", re.DOTALL)
"""Players that are not called by a URL: a name follows."""


class Fault(Exception):
    """The error in an ERROR event."""

    def __init__(self, details: Details, kind: str = INVALID) -> None:
        super().__init__(details)
        self.details, self.kind = details, kind


def fault(path: Path, words: str, kind: str, **context: Any) -> Fault:
    """One element of the original's list of errors."""
    label = path[-1] if path else "value"
    where = {"key": label, "label": label} if path else {"label": label}
    return Fault([{"message": f'"{label}" {words}', "path": list(path), "type": kind, "context": context | where}])


def echoed(value: Any) -> Any:
    """A value to send back: itself if it is short and can be encoded, else its beginning."""
    try:
        return value if len(msgspec.json.encode(value)) <= LONGEST_ECHO else shown(value)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return "a value that cannot be shown"


# Single values.


def whole(least: int, most: int) -> Check:
    """An integer, also as text. The original reports every number that is too small as not positive."""

    def check(value: Any, path: Path) -> int:
        number = _number(value)
        if number is None:
            raise fault(path, "must be a number", "number.base")
        if number != math.floor(number):
            raise fault(path, "must be an integer", "number.integer", value=number)
        if number < least:
            raise fault(path, "must be a positive number", "number.positive", value=number)
        if number > most:
            raise fault(path, f"must be less than or equal to {most}", "number.max", limit=most, value=number)
        return int(number)

    return check


def _number(value: Any) -> float | None:
    if isinstance(value, str) and A_NUMBER.fullmatch(value):
        value = float(value)
        value = int(value) if value.is_integer() else value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < 1e300 else None


def text(most: int) -> Check:
    def check(value: Any, path: Path) -> str:
        if not isinstance(value, str) or not _is_unicode(value):
            raise fault(path, "must be a string", "string.base", value=echoed(value))
        if not value:
            raise fault(path, "is not allowed to be empty", "any.empty")
        if len(value) > most:
            words = f"length must be less than or equal to {most} characters long"
            raise fault(path, words, "string.max", limit=most, value=echoed(value))
        return value

    return check


def _is_unicode(value: str) -> bool:
    """A lone surrogate can be neither stored nor sent."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def uri(most: int) -> Check:
    """Any absolute one, of any scheme."""
    plain = text(most)

    def check(value: Any, path: Path) -> str:
        url: str = plain(value, path)
        if not URI.fullmatch(url) and not OURS.fullmatch(url):
            raise fault(path, "must be a valid uri", "string.uri", value=echoed(url))
        return url

    return check


# Values made of others.


def unpacked(value: Any) -> Any:
    """JSON inside a text counts as what it holds."""
    if isinstance(value, str):
        try:
            return msgspec.json.decode(bounded(value.encode()))
        except (ValueError, RecursionError):
            return value
    return value


def listing(item: Check, most: int) -> Check:
    def check(value: Any, path: Path) -> list[Any]:
        items = unpacked(value)
        if not isinstance(items, list):
            raise fault(path, "must be an array", "array.base")
        if len(items) > most:
            raise fault(path, f"must contain less than or equal to {most} items", "array.max", limit=most)
        return [item(element, (*path, at)) for at, element in enumerate(items)]

    return check


def mapping(needed: Mapping[str, Check], allowed: Mapping[str, Check]) -> Check:
    """An object with all keys of the one kind and perhaps those of the other, in the order of the checks, and no more."""

    def check(value: Any, path: Path) -> dict[str, Any]:
        given = unpacked(value)
        if value is MISSING:
            raise fault(path, "is required", "any.required")
        if not isinstance(given, dict):
            raise fault(path, "must be an object", "object.base")
        read: dict[str, Any] = {}
        for key, inner in needed.items():
            if key not in given:
                raise fault((*path, key), "is required", "any.required")
            read[key] = inner(given[key], (*path, key))
        read |= {key: inner(given[key], (*path, key)) for key, inner in allowed.items() if key in given}
        for key in given:
            if key not in read:
                raise fault((*path, echoed(key)), "is not allowed", "object.allowUnknown", child=echoed(key))
        return read

    return check
