"""The report of a tournament, from made-up outcomes."""

import pytest

from botdrome.cli.terminal import Terminal
from botdrome.cli.tournament_report import TournamentReport, percent_text, score_table
from botdrome.contest.schedule import Fixture
from botdrome.match.events import Result
from botdrome.runner.seats import Effort
from botdrome.runner.tournament import MatchOutcome, TournamentPlan


def report(names: str, *won: tuple[int, int], times: int = 8) -> TournamentReport:
    """Each pair of a winner and a loser has met that many times."""
    plan = TournamentPlan("noughts-and-crosses", tuple(names), tuple(names), 2, 1, seed=0)
    found = TournamentReport(plan)
    for number, pair in enumerate(won * times):
        result = Result((1, 2), (1.0, 0.0), ("complete", "complete"), ())
        found.add(MatchOutcome(Fixture(number, pair, number), result, (Effort(), Effort()), (0, 0), {}, ("won", "lost"), {}))
    return found


def printed(found: TournamentReport) -> str:
    terminal = Terminal(width=120)
    with terminal.capture() as capture:
        terminal.print(score_table(found, 120), soft_wrap=True)
    return capture.get()


def test_circular_results_are_told_below_the_table() -> None:
    found = report("abc", (0, 1), (1, 2), (2, 0))
    text = printed(found)
    assert "Circular: a beats b (100%), b beats c (100%), c beats a (100%)." in text
    assert "Nash average, the mixture that no bot beats: a 33%, b 33%, c 33%." in text
    assert found.as_data()["circular"]["triads"] == [("a", "b", "c")]
    assert "Circular" not in printed(report("abc", (0, 1), (1, 2), (0, 2)))


def test_several_circles_are_counted() -> None:
    assert ", and 1 more such circles." in printed(report("abcd", (0, 1), (1, 2), (2, 0), (1, 3), (3, 0)))


def test_bots_that_never_met_are_not_comparable() -> None:
    found = report("abcde", (0, 1), (2, 3))
    assert "Not comparable, since they have never met: a, b | c, d" in printed(found)
    data = found.as_data()
    assert data["notComparable"] == [["a", "b"], ["c", "d"]]
    lines = {line["bot"]: line for line in data["standings"]}
    assert lines["e"]["elo"] == [None, None, None] and lines["b"]["elo"][0] < 0
    assert report("ab", (0, 1)).as_data()["notComparable"] == []


def test_the_table_says_how_sure_the_order_is() -> None:
    found = report("ab", (0, 1))
    row = next(line for line in printed(found).splitlines() if line.strip().startswith("a "))
    points, low, high = found.elo(0)
    assert points is not None and low is not None and high is not None and low < points < high
    assert f"{points:+.0f} " in row and "96 %" in row
    assert found.elo(1)[0] == pytest.approx(-points)


@pytest.mark.parametrize(("value", "text"), [(0.9999, ">99 %"), (0.956, "96 %"), (0.001, "<1 %")])
def test_nothing_is_certain(value: float, text: str) -> None:
    assert percent_text(value) == text
