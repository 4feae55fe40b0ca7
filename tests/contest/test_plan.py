"""Plans as plain data."""

from typing import Any

from botdrome.contest.document import document_from
from botdrome.contest.formats.format import Entrant, FixtureResult
from botdrome.contest.progress import ContestProgress, OpenFixtures, PlanSummary, plan_summary

NAMES = ["ada", "bob", "cyd"]


def planned(results: dict[str, FixtureResult], **rules: Any) -> OpenFixtures:
    document = document_from({"name": "cup", "game": "noughts-and-crosses", "games": 1} | rules)
    progress = ContestProgress(document, [Entrant(name) for name in NAMES], results)
    fixtures = OpenFixtures(plan_summary(1, progress), document, progress.entrants)
    fixtures.open(progress.open.values())
    return fixtures


def test_a_result_counts_once_whether_or_not_the_plan_knows_it() -> None:
    result = FixtureResult((1, 2), crashed=(1,))
    late, early = planned({}), planned({"1.1.1": result})
    for _ in range(2):
        late.add("1.1.1", result)
        early.add("1.1.1", result)
    assert late.by_key == early.by_key and late.of == early.of and late.faults == early.faults
    assert sum(late.faults.values()) == 1 and late.results == early.results == 1
    assert list(late.added) == ["1.1.1"] and not early.added


def test_the_next_plan_is_due_when_all_fixtures_have_results() -> None:
    fixtures = planned({})
    for key in list(fixtures.by_key):
        assert not fixtures.all_played
        fixtures.add(key, FixtureResult((1, 2)))
    assert fixtures.all_played and not fixtures.plan.over
    after = planned(fixtures.added)
    assert after.plan.over and not after.all_played and after.plan.round == 1


def test_a_contest_that_cannot_continue_or_has_no_plan_is_not_over() -> None:
    refused = planned({}, format="gauntlet", champion="dee")
    assert refused.plan.refusal and not refused.plan.over and not refused.all_played
    assert not PlanSummary(0).over


def test_late_entrants_and_leavers_count_from_the_round_of_the_plan() -> None:
    fixtures = planned({}, format="swiss")
    number = fixtures.enter(Entrant("dee"))
    assert (number, fixtures.entrants[number].joined) == (3, 2)
    assert [fixtures.leave(0).left for _ in range(2)] == [2, 2]
