"""Reading of messages, and the quotes of unreadable moves."""

from collections.abc import Callable
from typing import Any

import pytest

from botdrome.games.reading import (
    DEEPEST,
    MOST_EXPONENTS,
    MOST_VALUES,
    TooManyValues,
    bounded,
    shown,
)


def test_whatever_was_sent_can_be_quoted() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    assert shown(deep) == "something nested very deep"
    assert shown(10**5000) == "a number of very many digits"
    assert shown("x" * 50) == "'" + "x" * 36 + "..."


def nested_lists(times: int) -> bytes:
    return b"[" * times + b"]" * times


def nested_objects(times: int) -> bytes:
    return b'{"a": ' * times + b"0" + b"}" * times


def bombs(tasks: int) -> bytes:
    return b"[%b]" % b",".join([b'{"task":"BOMB","x":1,"y":2,"z":3}'] * tasks)


READABLE = [
    b"5",
    nested_lists(DEEPEST),
    nested_objects(DEEPEST),
    b"[%b0]" % (b'[{"a": []}],' * 1000),
    b'"%b"' % (b"[" * 5000),
    b'["%b"]' % (rb"\\\"[{," * 5000),
    b'{"a": "%b"}' % (b",[{" * 20_000),
    b"[%b1]" % (b"1," * MOST_VALUES)[:-4],
    b"[1, %b]" % nested_objects(DEEPEST - 1),
    b"[%b1]" % (b"1e300," * MOST_EXPONENTS),
    b"[%b1]" % (b'true, false, "1e300", ' * 1000),
    bombs(1000),
    b"x" * 1000,
]


@pytest.mark.parametrize("message", READABLE)
def test_a_message_may_be_long(message: bytes) -> None:
    assert bounded(message) is message


@pytest.mark.parametrize("times", [DEEPEST + 1, DEEPEST + 2, 900, 5000])
@pytest.mark.parametrize("nested", [nested_lists, nested_objects])
def test_what_is_nested_too_deep_is_no_message(nested: Callable[[int], bytes], times: int) -> None:
    message = b'[1, "]]]]", %b, {}]' % nested(times - 1)
    with pytest.raises(TooManyValues, match=f"more than {DEEPEST} deep"):
        bounded(message)


MANY = {
    "lists": b"[%b[]]" % (b"[]," * 21_000),
    "objects": b"[%b{}]" % (b"{}," * 21_000),
    "numbers": b"[%b1]" % (b"1," * MOST_VALUES),
    "strings": b"[%b1]" % (b'"",' * 21_000),
    "fewer strings": b"[%b1]" % (b'"",' * 10_000),
    "keys": b"{%b}" % b",".join(b'"%d":1' % number for number in range(7000)),
    "strings with signs": b"[%b1]" % (b'",",' * MOST_VALUES),
    "after an escaped quote": b'["\\\\",%b1]' % (b"1," * MOST_VALUES),
}


@pytest.mark.parametrize("name", MANY)
def test_what_has_too_many_values_is_no_message(name: str) -> None:
    with pytest.raises(TooManyValues, match=f"more than {MOST_VALUES} values"):
        bounded(MANY[name])


@pytest.mark.parametrize("number", [b"9e300", b"9E300", b"9.1e+300", b"1e-320"])
def test_numbers_that_take_long_to_decode_are_few(number: bytes) -> None:
    message = b"[%b %b" % (b"%b," % number * (MOST_EXPONENTS + 1), b"true" * 1000)
    with pytest.raises(TooManyValues, match=f"more than {MOST_EXPONENTS} numbers with an exponent"):
        bounded(message)
