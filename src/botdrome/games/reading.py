"""Reading what bots send: values out of JSON, or IllegalMove with words that help."""

from typing import Any

import msgspec

from botdrome.games.game import IllegalMove

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What is raised where bytes are no JSON: brackets without end are none either."""


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
