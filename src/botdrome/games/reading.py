"""Read bots' JSON values; raise IllegalMove with a helpful message if they are wrong."""

from collections.abc import Iterable
from typing import Any

import msgspec

from botdrome.games.game import IllegalMove

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The exceptions raised for bytes that are not JSON, including endless brackets."""


DEEPEST = 100
"""The deepest nesting of a message. The server also records and repeats messages inside other JSON, with less stack left,
so a value that can just be read might not be written again."""


def not_too_deep(message: bytes, value: Any) -> Any:
    """Return the value of a message. Raise DecodeError if it is nested too deeply."""
    if len(message) > 2 * DEEPEST and message.count(b"[") + message.count(b"{") > DEEPEST and _depth_passes(value):
        raise msgspec.DecodeError(f"it is nested more than {DEEPEST} deep")
    return value


def _depth_passes(value: Any) -> bool:
    """Check the depth level by level: recursion would overflow on deep values."""
    level = [value]
    for _ in range(DEEPEST):
        level = [item for each in level for item in _items(each)]
    return any(isinstance(each, (dict, list)) for each in level)


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def shown(value: Any) -> str:
    """Return a value as an error message quotes it, at most one line long."""
    try:
        text = repr(value)
    except ValueError:
        return "a number of very many digits"
    except RecursionError:
        return "something nested very deep"
    return text if len(text) <= 40 else text[:37] + "..."


def an_object(raw: Any) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise IllegalMove(f"a move is a JSON object, not {shown(raw)}")
    return raw


def entry(raw: dict[str, Any], key: str) -> Any:
    if key not in raw:
        raise IllegalMove(f'the key "{key}" is missing')
    return raw[key]


def entries(raw: Any, *keys: str) -> list[Any]:
    """Return an object's values for these keys. Raise IllegalMove if one is missing."""
    try:
        return [raw[key] for key in keys]
    except (KeyError, TypeError, IndexError):
        move = an_object(raw)
        return [entry(move, key) for key in keys]


def whole(value: Any, what: str) -> int:
    """Return a whole number; 1.0 counts as 1, true does not."""
    if type(value) is int:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise IllegalMove(f"{what} is a whole number, not {shown(value)}")


def whole_within(value: Any, what: str, low: int, high: int) -> int:
    """Return a whole number from low to high, both included."""
    number = value if type(value) is int else whole(value, what)
    if low <= number <= high:
        return number
    raise IllegalMove(f"{what} is from {low} to {high}, not {shown(number)}")


def plural(count: int, noun: str, ending: str = "s") -> str:
    """Return a number with its noun: 1 skip, 2 skips."""
    return f"{count} {noun}{ending if count != 1 else ''}"
