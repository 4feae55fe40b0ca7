"""Reading of messages, and the quotes of unreadable moves."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from botdrome.games.reading import DEEPEST, not_too_deep, shown


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


SHALLOW = [b"5", nested_lists(DEEPEST), nested_objects(DEEPEST), b"[%b0]" % (b'[{"a": []}],' * 3000), b'"%b"' % (b"[" * 5000)]


@pytest.mark.parametrize("message", SHALLOW)
def test_what_is_long_need_not_be_deep(message: bytes) -> None:
    value = msgspec.json.decode(message)
    assert not_too_deep(message, value) is value


@pytest.mark.parametrize("times", [DEEPEST + 1, DEEPEST + 2, 900])
@pytest.mark.parametrize("nested", [nested_lists, nested_objects])
def test_what_is_nested_too_deep_is_no_message(nested: Callable[[int], bytes], times: int) -> None:
    message = b"[1, %b, {}]" % nested(times - 1)
    with pytest.raises(msgspec.DecodeError, match=f"more than {DEEPEST} deep"):
        not_too_deep(message, msgspec.json.decode(message))
