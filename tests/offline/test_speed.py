"""The speed of a machine for bots, and the class of runners that follows from it."""

import pytest

from botdrome.client.program import CannotStart
from botdrome.client.sandbox import SANDBOXED, Limits
from botdrome.offline.speed import REFERENCE, STEPS, class_of, measured_speed, work
from tests.offline.test_sandbox import bwrap as bwrap


@pytest.mark.usefixtures("bwrap")
def test_the_sandbox_measures_what_the_work_takes() -> None:
    """Other processes may slow down one of them."""
    assert measured_speed(SANDBOXED) / (REFERENCE / min(work() for _ in range(5))) == pytest.approx(
        1, abs=0.75
    )


@pytest.mark.usefixtures("bwrap")
def test_a_machine_that_cannot_be_measured_is_told() -> None:
    with pytest.raises(CannotStart, match="the speed cannot be measured: "):
        measured_speed(Limits(memory=1))


@pytest.mark.parametrize(
    ("speed", "step"),
    [(0.01, 0.25), (0.29, 0.25), (1.18, 1.0), (1.19, 1.4), (1.67, 1.4), (1.68, 2.0), (99.0, 4.0)],
)
def test_the_class_is_the_nearest_step(speed: float, step: float) -> None:
    assert class_of(speed) == f"speed-{step}"
    assert step in STEPS
