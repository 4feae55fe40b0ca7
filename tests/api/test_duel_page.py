"""How long somebody was online, as the original writes it."""

import pytest

from botdrome.api.duel import online_time


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "00s"), (6.9, "06s"), (59.99, "59s"), (60, "1m00"), (187, "3m07"), (3599, "59m59"), (7500, "2h05"), (360000, "100h00")],
)
def test_online_time(seconds: float, shown: str) -> None:
    assert online_time(seconds) == shown
