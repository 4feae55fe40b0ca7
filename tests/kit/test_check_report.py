"""Times and memory in the report of a check."""

import pytest

from botdrome.kit.check import CheckReport, growth_of, times_of


def test_times_are_percentiles() -> None:
    times = times_of([number / 1000 for number in range(200)])
    assert (times.p50, times.p99, times.slowest) == (0.1, 0.198, 0.199)
    assert times_of([5.0]).p99 == 5.0


@pytest.mark.parametrize(
    ("samples", "growth"),
    [
        ([100] * 40, 0),
        ([100, 500, 500, 900, 900, 900, 900, 900, 900, 900] + [1000] * 10, 100),
        (list(range(0, 4000, 100)), 2000),
        ([500] * 20 + [100] * 20, 0),
    ],
)
def test_growth_begins_after_the_warm_up(samples: list[int], growth: int) -> None:
    assert growth_of(samples) == growth


def test_the_process_that_grew_most_counts() -> None:
    report = CheckReport()
    assert (report.growth, report.times) == (None, None)
    report.memory = {1: list(range(19))}
    assert report.growth is None
    report.memory = {1: [100] * 40, 2: list(range(0, 4000, 100))}
    report.seconds = [0.5]
    assert report.growth == 2000
    assert report.times is not None
