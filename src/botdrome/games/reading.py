"""Reading what bots send: values out of JSON, or IllegalMove with words that help."""

from collections.abc import Iterable
from typing import Any

import msgspec

from botdrome.games.game import IllegalMove

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What is raised where bytes are no JSON: brackets without end are none either."""


DEEPEST = 100
"""Brackets within brackets in a message. What is read is also recorded, repeated and played again, each time inside of something
else and with another stack below: what can just be read could not be written, and its match not be told of."""


def not_too_deep(message: bytes, value: Any) -> Any:
    """The value that was read from a message; DecodeError where it is nested more than anybody needs."""
    if len(message) > 2 * DEEPEST and message.count(b"[") + message.count(b"{") > DEEPEST and _depth_passes(value):
        raise msgspec.DecodeError(f"it is nested more than {DEEPEST} deep")
    return value


def _depth_passes(value: Any) -> bool:
    """Level by level, for what is nested deeply must not be followed by calls within calls."""
    level = [value]
    for _ in range(DEEPEST):
        level = [item for each in level for item in _items(each)]
    return any(isinstance(each, (dict, list)) for each in level)


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def shown(value: Any) -> str:
    """A value as an error message quotes it: never longer than a line."""
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
    """What an object has under these keys, all of which it must have."""
    try:
        return [raw[key] for key in keys]
    except (KeyError, TypeError, IndexError):
        move = an_object(raw)
        return [entry(move, key) for key in keys]


def whole(value: Any, what: str) -> int:
    """A whole number; 1.0 counts as 1, true does not."""
    if type(value) is int:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise IllegalMove(f"{what} is a whole number, not {shown(value)}")


def whole_within(value: Any, what: str, low: int, high: int) -> int:
    """A whole number from low to high, both included."""
    number = value if type(value) is int else whole(value, what)
    if low <= number <= high:
        return number
    raise IllegalMove(f"{what} is from {low} to {high}, not {shown(number)}")
