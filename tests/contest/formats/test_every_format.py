"""Contract of all formats: they end, count every result, seat nobody twice, and continue from any
part of their results.
"""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from botdrome.contest.formats.format import Fixture, FixtureResult
from botdrome.contest.progress import CONTEST_FORMATS, ContestProgress
from botdrome.games.chance import Chance
from tests.contest.formats.examples import Referee, bots, document, played

ROUNDS_OF_LADDER = 8


@st.composite
def referees(draw: st.DrawFn) -> Referee:
    """Results that follow from the fixture alone, with many draws, no-shows and matches that do not
    count.
    """
    level, faults, salt = draw(st.integers(1, 6)), draw(st.booleans()), draw(st.integers(0, 99))

    def referee(fixture: Fixture) -> FixtureResult:
        chance = Chance(
            salt, sum(int(part) << 20 * index for index, part in enumerate(fixture.key.split(".")))
        )
        marks = [chance.below(level) for _ in fixture.entrants]
        places = tuple(1 + sum(other > mark for other in marks) for mark in marks)
        fault = chance.below(10) if faults else 9
        return FixtureResult(
            () if fault == 0 else places, (0,) if fault == 1 else (), (1,) if fault == 2 else ()
        )

    return referee


@st.composite
def contests(draw: st.DrawFn) -> tuple[dict[str, Any], int]:
    format_, seats = (
        draw(st.sampled_from(sorted(CONTEST_FORMATS))),
        draw(st.sampled_from([2, 2, 2, 3, 4])),
    )
    seats = 2 if format_ == "double-elimination" else seats
    keys: dict[str, Any] = {
        "format": format_,
        "players": seats,
        "games": draw(st.sampled_from([1, seats])),
    }
    if format_ in ("knockout", "double-elimination") and seats == 2:
        keys |= {"best_of": draw(st.sampled_from([1, 3, 5]))}
        del keys["games"]
    return keys, draw(st.integers(0, 9 if seats == 2 else 8))


def begun(keys: dict[str, Any], entrants: int) -> ContestProgress:
    rest = {key: value for key, value in keys.items() if key != "format"}
    return ContestProgress(document(keys["format"], **rest), bots(entrants), {})


def finished(progress: ContestProgress) -> bool:
    return progress.over or bool(progress.refusal) or progress.rounds_played >= ROUNDS_OF_LADDER


def play_on(
    progress: ContestProgress, referee: Referee, chance: Chance | None = None
) -> ContestProgress:
    """Play in the order of the plan, or in any order."""
    while not finished(progress):
        fixtures = list(progress.open.values())
        fixture = chance.choice(fixtures) if chance else fixtures[0]
        progress.add(fixture.key, referee(fixture))
    return progress


@given(contests(), referees(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_a_contest_ends_and_continues_from_any_part_of_its_results(
    contest: Any, referee: Referee, random: Any
) -> None:
    whole = play_on(begun(*contest), referee)
    reason = whole.format.refusal(contest[1])
    assert bool(reason) == bool(whole.refusal)
    lines = whole.standings()
    assert sorted(line.entrant for line in lines) == list(range(contest[1]))
    assert [line.place for line in lines] == sorted(line.place for line in lines)
    counting = [key for key, result in whole.results.items() if result.places]
    seats = sum(line.wins + line.draws + line.losses for line in lines)
    assert seats == len(counting) * whole.document.seats
    for round_ in whole.rounds:
        assert len({fixture.key for fixture in round_.fixtures}) == len(round_.fixtures)
    assert play_on(begun(*contest), referee, Chance(random.randrange(99))).standings() == lines
    kept = {
        key: whole.results[key]
        for key in random.sample(sorted(whole.results), random.randint(0, len(whole.results)))
    }
    resumed = ContestProgress(whole.document, bots(contest[1]), kept)
    resumed = play_on(resumed, referee)
    assert (resumed.standings(), resumed.fixtures) == (lines, whole.fixtures)
    again = ContestProgress(whole.document, whole.entrants, whole.results)
    assert again.standings() == lines


@given(contests(), referees(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_entrants_may_leave_at_any_time(contest: Any, referee: Referee, random: Any) -> None:
    progress = begun(*contest)
    while not finished(progress):
        if random.random() < 0.1:
            progress.withdraw(random.randrange(contest[1]))
        else:
            fixture = random.choice(list(progress.open.values()))
            assert all(progress.entrants[number].left is None for number in fixture.entrants)
            progress.add(fixture.key, referee(fixture))
    again = ContestProgress(progress.document, progress.entrants, progress.results)
    assert (again.standings(), again.open, again.over) == (
        progress.standings(),
        progress.open,
        progress.over,
    )


@pytest.mark.parametrize("format_", ["swiss", "ladder", "knockout", "double-elimination"])
def test_nobody_plays_twice_in_a_round(format_: str) -> None:
    for round_ in played(ContestProgress(document(format_, games=1), bots(9), {}), most=40).rounds:
        meetings = {fixture.meeting: fixture.entrants for fixture in round_.fixtures}
        assert max(Counter(number for group in meetings.values() for number in group).values()) == 1
        assert not set(round_.byes) & {number for group in meetings.values() for number in group}


@pytest.mark.parametrize("format_", sorted(CONTEST_FORMATS))
def test_nobody_enters_an_empty_contest_in_vain(format_: str) -> None:
    chosen = CONTEST_FORMATS[format_](document(format_), (), {})
    assert chosen.expected(0) == 0
    assert "cannot fill" in chosen.refusal(1)
    alone = ContestProgress(document(format_), bots(1), {})
    assert "cannot fill" in alone.refusal and not alone.open
    assert [line.place for line in alone.standings()] == [1]
    assert ContestProgress(document(format_), bots(4), {}).open


@pytest.mark.parametrize("format_", sorted(set(CONTEST_FORMATS) - {"ladder"}))
def test_an_estimate_of_all_matches_is_about_right(format_: str) -> None:
    progress = ContestProgress(document(format_), bots(16), {})
    estimate = progress.expected
    assert 0.6 <= len(played(progress).results) / estimate <= 1.4
