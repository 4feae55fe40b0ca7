"""Read bots' JSON values; raise IllegalMove with a helpful message if they are wrong."""

from typing import Any

import msgspec

from botdrome.games.game import IllegalMove

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The exceptions raised for bytes that are not JSON, including endless brackets."""


DEEPEST = 100
"""The deepest nesting of a message. The server also records and repeats messages inside other JSON,
with less stack left, so a value that can just be read might not be written again.
"""
MOST_VALUES = 6000
"""The most values in a message. The longest legal one, 1,000 tasks of Battlecube with bombs, has
5,000; 6,000 empty lists are decoded within half a millisecond.
"""
MOST_EXPONENTS = 100
"""The most numbers such as 1e300 in a message.

Decoding one may take 10 microseconds, 200 times as long as other numbers.
"""
BRIEF = 2 * DEEPEST
"""Bytes of a message that cannot take long to decode."""
EXPONENTS = bytes.maketrans(b"E+-123456789", b"e00000000000")
"""Turns the beginning of each exponent into e0. The words `true` and `false` do not become that."""
BRACKETS = bytes.maketrans(b"{}", b"[]")
OTHERS = bytes(set(range(256)) - set(b"[]{}"))


class TooManyValues(msgspec.DecodeError):
    """A JSON text that is too large or too deep to be decoded."""


def bounded(message: bytes) -> bytes:
    """Return a JSON text of a stranger.

    Raise TooManyValues if decoding it could take long. Nearly all are too short for that.
    """
    if len(message) > BRIEF:
        _check_bounds(message)
    return message


def _check_bounds(message: bytes) -> None:
    """Count values and levels in a few passes over the text that all run in C.

    Signs inside of strings do not count.
    """
    if _values(message) <= DEEPEST:
        return
    unescaped = message.replace(b"\\\\", b"").replace(b'\\"', b"")
    if unescaped.count(b'"') > 4 * MOST_VALUES:
        raise TooManyValues(f"it has more than {MOST_VALUES} values")
    plain = b"".join(unescaped.split(b'"')[::2])
    if _values(plain) > MOST_VALUES:
        raise TooManyValues(f"it has more than {MOST_VALUES} values")
    if plain.translate(EXPONENTS).count(b"e0") > MOST_EXPONENTS:
        raise TooManyValues(f"it has more than {MOST_EXPONENTS} numbers with an exponent")
    levels = plain.translate(BRACKETS, OTHERS)
    for _ in range(DEEPEST):
        if not levels:
            return
        levels = levels.replace(b"[]", b"")
    if levels:
        raise TooManyValues(f"it is nested more than {DEEPEST} deep")


def _values(text: bytes) -> int:
    return text.count(b",") + text.count(b"[") + text.count(b"{")


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
