"""Tournaments: the same outcome in one process or in several, kept in files that hold."""

import multiprocessing
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import msgspec
import pytest

from botdrome.catalogue import CATALOGUE
from botdrome.match.record import read, verify
from botdrome.offline.tournament import MatchOutcome, TournamentPlan, play_all
from tests.offline import programs
from tests.offline.programs import program


def plan(entrants: tuple[str, ...], **changes: Any) -> TournamentPlan:
    settings: dict[str, Any] = {"game": "noughts-and-crosses", "seats": 2, "matches": 4, "seed": 7}
    return TournamentPlan(entrants=entrants, names=entrants, **settings | changes)


def told(outcome: MatchOutcome) -> Any:
    return (
        outcome.fixture,
        outcome.result,
        outcome.faults,
        [effort.moves for effort in outcome.efforts],
    )


def test_the_same_seeds_give_the_same_matches_in_one_process_or_two() -> None:
    wanted = plan(("house:random", "house:perfect", "house:random"), matches=40)
    alone = [told(outcome) for outcome in play_all(wanted, jobs=1)]
    together = [told(outcome) for outcome in play_all(wanted, jobs=2)]
    assert len(alone) == 120
    assert sorted(together, key=lambda match: wanted.number(match[0])) == alone


def test_a_bot_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    bad, good = program(tmp_path, programs.CRASHING), program(tmp_path, programs.GOOD, "good.py")
    outcomes = list(play_all(plan((bad, good, "house:random"), matches=2), jobs=2))
    assert len(outcomes) == 6
    causes = [cause for outcome in outcomes for cause in outcome.result.causes]
    assert causes.count("crash") == 4
    assert causes.count("complete") == 8


def test_matches_are_kept_with_what_programs_wrote_to_their_standard_error(tmp_path: Path) -> None:
    talkative = program(tmp_path, programs.TALKATIVE)
    folder = tmp_path / "kept" / "here"
    outcomes = list(
        play_all(plan((talkative, "house:random"), matches=2, save=str(folder)), jobs=1)
    )
    assert [Path(outcome.file).name for outcome in outcomes] == [
        "noughts-and-crosses-7-00001.jsonl",
        "noughts-and-crosses-7-00002.jsonl",
    ]
    for outcome in outcomes:
        record = read(Path(outcome.file).read_bytes())
        verify(record, CATALOGUE["noughts-and-crosses"].game)
        assert record.result == outcome.result
    assert (folder / "noughts-and-crosses-7-00001.0.stderr").read_text() == "thinking\n"
    assert (folder / "noughts-and-crosses-7-00002.1.stderr").read_text() == "thinking\n"


def test_breaking_off_ends_the_processes() -> None:
    outcomes = play_all(plan(("house:random", "house:random"), matches=2000), jobs=2)
    next(outcomes)
    outcomes.close()
    assert multiprocessing.active_children() == []


def test_a_process_that_is_killed_ends_the_others() -> None:
    outcomes = play_all(plan(("house:random", "house:random"), matches=100_000), jobs=2)
    next(outcomes)
    multiprocessing.active_children()[0].kill()
    with pytest.raises(BrokenProcessPool):
        list(outcomes)
    assert multiprocessing.active_children() == []


def test_outcomes_travel_between_processes_as_plain_data() -> None:
    outcome = next(iter(play_all(plan(("house:random", "house:perfect")), jobs=1)))
    assert msgspec.convert(msgspec.to_builtins(outcome), MatchOutcome) == outcome
