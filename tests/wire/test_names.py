"""Names: allowed characters."""

import pytest

from botdrome.wire.conversation import can_be_shown, unseen, written_out


@pytest.mark.parametrize(
    "name", ["Ada", "a b", "Zoë", "名前", "non\u00a0breaking", "👩‍💻", "a/b<c>&'\""]
)
def test_names_that_can_be_shown(name: str) -> None:
    assert can_be_shown(name)


@pytest.mark.parametrize(
    "sign",
    [
        "\0",
        "\n",
        "\x1b",
        "\x7f",
        "\x85",
        "\u2028",
        "\u200f",
        "\u202e",
        "\u2066",
        "\u200b",
        "\xad",
        "\ufeff",
        "\ud800",
    ],
)
def test_what_would_spoil_a_page_or_a_terminal_is_in_no_name(sign: str) -> None:
    assert not can_be_shown(f"A{sign}da")


@pytest.mark.parametrize("name", ["ann", "Борис", "王小明", "मुंबई", "👩‍💻", "❤️ bot", "क्‍ष", "an n"])
def test_names_of_all_scripts_can_be_seen(name: str) -> None:
    assert not unseen(name) and written_out(name) == name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("ann ", "ann␠"),
        (" ann", "␠ann"),
        ("an  n", "an␠␠n"),
        ("an\xa0n", "an<U+00A0>n"),
        ("ann\u3164", "ann<U+3164>"),
        ("ann\u200d", "ann<U+200D>"),
        ("ann\ufe0f", "ann<U+FE0F>"),
    ],
)
def test_what_cannot_be_seen_is_written_out(name: str, shown: str) -> None:
    assert written_out(name) == shown
