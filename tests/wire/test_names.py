"""Names: what may be in them."""

import pytest

from botdrome.wire.names import can_be_shown


@pytest.mark.parametrize("name", ["Ada", "a b", "Zoë", "名前", "non\u00a0breaking", "👩‍💻", "a/b<c>&'\""])
def test_names_that_can_be_shown(name: str) -> None:
    assert can_be_shown(name)


@pytest.mark.parametrize(
    "sign", ["\0", "\n", "\x1b", "\x7f", "\x85", "\u2028", "\u200f", "\u202e", "\u2066", "\u200b", "\xad", "\ufeff", "\ud800"]
)
def test_what_would_spoil_a_page_or_a_terminal_is_in_no_name(sign: str) -> None:
    assert not can_be_shown(f"A{sign}da")
