"""What is quoted of a move that cannot be."""

from typing import Any

from botdrome.games.reading import shown


def test_whatever_was_sent_can_be_quoted() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    assert shown(deep) == "something nested very deep"
    assert shown(10**5000) == "a number of very many digits"
    assert shown("x" * 50) == "'" + "x" * 36 + "..."
