"""The keys of the viewer."""

import pytest

from botdrome.cli.replay import Viewer, split


def looking_at(*keys: str, frames: int = 10, speed: float = 2.0) -> Viewer:
    viewer = Viewer(frames, speed)
    for key in keys:
        viewer.press(key)
    return viewer


@pytest.mark.parametrize(
    ("keys", "at"),
    [
        (["right"], 1),
        (["n", "n", "enter"], 3),
        (["right", "right", "left"], 1),
        (["b"], 0),
        (["end"], 9),
        (["end", "right"], 9),
        (["end", "home"], 0),
        (["7", "enter"], 7),
        (["1", "2", "enter"], 9),
        (["7", "x", "enter"], 1),
    ],
)
def test_keys_lead_to_a_frame(keys: list[str], at: int) -> None:
    assert looking_at(*keys).at == at


def test_it_plays_until_the_end_and_starts_anew() -> None:
    viewer = looking_at(" ", frames=3)
    viewer.tick()
    assert (viewer.at, viewer.playing) == (1, True)
    viewer.tick()
    assert (viewer.at, viewer.playing) == (2, False)
    viewer.tick()
    assert viewer.at == 2
    viewer.press(" ")
    assert (viewer.at, viewer.playing) == (0, True)


def test_a_step_by_hand_stops_it() -> None:
    assert not looking_at(" ", "right").playing


def test_the_speed_has_bounds() -> None:
    assert looking_at("+").speed == 4
    assert looking_at("-").speed == 1
    assert looking_at(*"++++++++++").speed == 64
    assert looking_at(*"----------").speed == 0.25


def test_q_and_escape_quit() -> None:
    assert looking_at("q").done
    assert looking_at("escape").done


def test_several_keys_may_come_at_once() -> None:
    assert list(split("n\x1b[C\x1b[D\x1bOH12\r\x1b")) == [
        "n",
        "right",
        "left",
        "home",
        "1",
        "2",
        "enter",
        "escape",
    ]
