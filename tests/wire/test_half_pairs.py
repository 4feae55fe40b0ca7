"""Lone surrogates, which JavaScript accepts and UTF-8 cannot encode."""

import msgspec
import pytest

from botdrome.wire.battlebot.conversation import value_of, without_halves


@pytest.mark.parametrize(
    ("json", "value"),
    [
        (rb'"\ud800"', "\ufffd"),
        (rb'"a\udc00b"', "a\ufffdb"),
        (rb'"\ud800\ud83d\ude00"', "\ufffd😀"),
        (rb'"\uD83D\uDE00\uDBFF"', "😀\ufffd"),
        (rb'"\ude00\ud83d"', "\ufffd\ufffd"),
        (rb'"\ud800\u0041"', "\ufffdA"),
        (rb'"\ud800\n\\ud800"', "\ufffd\n\\ud800"),
        (rb'"\\\ud800"', "\\\ufffd"),
        (rb'{"\ud800": [1.0, "\udfff"]}', {"\ufffd": [1, "\ufffd"]}),
    ],
)
def test_a_half_is_read_as_the_unknown_character(json: bytes, value: object) -> None:
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(json)
    assert value_of(json) == value


@pytest.mark.parametrize(
    "json",
    [
        rb'"\\ud800"',
        rb'"\\\\ud800"',
        rb'"\ud83d\ude00"',
        b'"\\\n"',
        b"\\",
        b"\\ud8",
        b"",
        b"\xff",
        b"{",
    ],
)
def test_all_else_stays_as_it_is(json: bytes) -> None:
    assert without_halves(json) == json


@pytest.mark.parametrize("half", [b"", rb"\ud800"])
def test_what_is_nested_too_deep_is_unreadable(half: bytes) -> None:
    with pytest.raises(msgspec.DecodeError, match="deep"):
        value_of(b"[" * 900 + b'"%b"' % half + b"]" * 900)
