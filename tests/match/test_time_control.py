"""Time controls, read and played."""

import pytest

from botdrome.match.terms import BadTimeControl, Bank, Pace, read_time_control
from tests.match.test_match import WIN_FOR_ONE, noughts


@pytest.mark.parametrize(
    ("text", "pace"),
    [
        ("40/60+0.6", Pace(None, bank=Bank(60_000, 600, 40))),
        ("60", Pace(None, bank=Bank(60_000))),
        ("2:30+1", Pace(None, bank=Bank(150_000, 1000))),
        ("5/move", Pace(5000)),
        ("0.25/move+60", Pace(250, bank=Bank(60_000))),
    ],
)
def test_a_time_control_is_read(text: str, pace: Pace) -> None:
    assert read_time_control(text) == pace


@pytest.mark.parametrize(
    "text", ["", "0", "0/move", "40/", "fast", "-5", "60+", "1e9", "40/0+1", "\u0665"]
)
def test_a_bad_time_control_is_refused_with_examples(text: str) -> None:
    with pytest.raises(BadTimeControl) as caught:
        read_time_control(text)
    assert str(caught.value).startswith(
        f"there is no time control {text!r}; `40/60+0.6` is 60 s for 40 moves"
    )


def test_a_match_on_a_chess_clock() -> None:
    match = noughts(pace=read_time_control("10+1"))
    for turn, raw in enumerate(WIN_FOR_ONE):
        match.submit(turn % 2, raw, turn * 2000)
    assert match.result is not None and match.result.winner == 0
    assert match.clocks.left == [10_000 - 4000 + 3000, 10_000 - 4000 + 2000]
