"""Plans: the fixtures to play now, and the results since they were planned."""

from botdrome.contest.formats.format import Fixture, FixtureResult
from botdrome.server.contests.contest_planner import ContestPlan, PlanSummary

FIRST, SECOND = Fixture("1.1.1", (0, 1), 5), Fixture("1.2.1", (2, 0), 6)
RESULT = FixtureResult((1, 2), crashed=(1,))


def test_a_result_counts_once_whether_or_not_the_plan_knows_it() -> None:
    late, early = ContestPlan(PlanSummary(1)), ContestPlan(PlanSummary(2, faults={1: 1}))
    late.open([FIRST, SECOND])
    early.open([SECOND])
    for _ in range(2):
        late.add(FIRST, RESULT)
        early.add(FIRST, RESULT)
    assert late.of[0] == early.of[0] == late.of[2] == early.of[2] == {"1.2.1": SECOND}
    assert late.faults == early.faults == {1: 1} and not late.of[1]
    assert late.added == {FIRST: RESULT} and not early.added


def test_the_next_plan_is_due_when_all_fixtures_have_results() -> None:
    plan = ContestPlan(PlanSummary(1))
    assert not plan.all_played, "nothing is planned yet"
    plan.open([FIRST, SECOND])
    for fixture in (FIRST, SECOND):
        assert not plan.all_played
        plan.add(fixture, RESULT)
    assert plan.all_played
