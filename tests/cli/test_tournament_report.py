"""The report of a tournament, from made-up outcomes."""

import json
from io import StringIO

import pytest
from rich.console import RenderableType

from botdrome.cli.standings import (
    MOST_LIVE,
    TournamentReport,
    live_table,
    percent_text,
    score_table,
)
from botdrome.cli.terminal import Terminal
from botdrome.contest.formats.format import Fixture
from botdrome.games.game import Raw, View
from botdrome.match.events import Result
from botdrome.offline.seats import Effort, FunctionSeat, make_seat
from botdrome.offline.tournament import MatchOutcome, TournamentPlan, play_all


def report(names: str, *won: tuple[int, int], times: int = 8) -> TournamentReport:
    """Each pair of a winner and a loser has met that many times."""
    plan = TournamentPlan("noughts-and-crosses", tuple(names), tuple(names), 2, 1, seed=0)
    found = TournamentReport(plan)
    for number, pair in enumerate(won * times):
        result = Result((1, 2), (1.0, 0.0), ("complete", "complete"), ())
        found.add(
            MatchOutcome(
                Fixture(f"1.{number + 1}.1", pair, number),
                0,
                0,
                result,
                (Effort(), Effort()),
                (0, 0),
                (0, 0),
                {},
                ("won", "lost"),
                {},
            )
        )
    return found


def printed(found: TournamentReport) -> str:
    return as_text(score_table(found, 120))


def as_text(what: RenderableType) -> str:
    terminal = Terminal(width=120)
    with terminal.capture() as capture:
        terminal.print(what, soft_wrap=True)
    return capture.get()


def test_the_table_names_the_seeds_that_were_played() -> None:
    assert "noughts-and-crosses: 3 matches, seeds 0 to 2\n" in printed(
        report("ab", (0, 1), times=3)
    )
    assert "noughts-and-crosses: 1 match, seed 0\n" in printed(report("ab", (0, 1), times=1))


class SlowOnce(FunctionSeat):
    """A bot whose second move comes after the limit."""

    def __init__(self) -> None:
        super().__init__(lambda view: {"orders": {}}, trusted=True)

    def ask(self, view: View, limit: float) -> tuple[Raw, float]:
        move, _ = super().ask(view, limit)
        return move, 3600.0 if self.effort.moves == 2 else 0.0


@pytest.mark.usefixtures("answers_in_no_time")
def test_late_moves_are_counted_apart_from_refused_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botdrome.offline.tournament.check_bot", lambda *about: None)
    monkeypatch.setattr(
        "botdrome.offline.tournament.make_seat",
        lambda bot, *rest: SlowOnce() if bot == "slow" else make_seat(bot, *rest),
    )
    plan = TournamentPlan(
        "bumblebots", ("slow", "house:random"), ("slow", "house"), 2, 1, 1, {"ticks": 3}, limit=1000
    )
    found = TournamentReport(plan, spooled=True)
    for outcome in play_all(plan, 1):
        found.add(outcome)
    written = StringIO()
    found.write_json(written)
    data = json.loads(written.getvalue())
    assert data["matches"][0]["faults"] == {"slow": "1 late move, after the limit of 1000 ms"}
    assert {row["bot"]: row["faults"] for row in data["standings"]} == {
        "slow": {"late moves": 1},
        "house": {},
    }
    assert "late moves 1" in printed(found)


def test_live_standings_come_best_first_and_have_a_limit() -> None:
    lines = as_text(
        live_table(report("abcdefghijklmnopqrst", (1, 0), (1, 2), (0, 2), times=1))
    ).split("\n")
    rows = [line.split() for line in lines if line.strip().endswith(tuple("0123456789"))]
    assert (
        rows[:3] == [["b", "2", "0", "0", "2"], ["a", "1", "0", "1", "1"], ["d", *"0000"]]
        and len(rows) == MOST_LIVE
    )


def test_matches_that_were_not_played_are_named_in_their_order() -> None:
    found = report("ab", (0, 1))
    for number in (9, 3, 5, 6, 7, 8):
        found.add_unplayed(Fixture(f"1.{number + 1}.1", (0, 1), 4), "it ended")
    text = printed(found)
    assert text.index("Not played: match 4, seed 4, a, b: it ended") < text.index(
        "Not played: match 6"
    )
    assert "... and 1 more that were not played; --json lists them all" in text
    assert (
        len(found.as_data()["unplayed"]) == 6 and "unplayed" not in report("ab", (0, 1)).as_data()
    )


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
