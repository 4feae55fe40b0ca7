"""Recorded matches are continued from one of their steps."""

from pathlib import Path

import pytest

from botdrome.catalogue import CATALOGUE, restored
from botdrome.games.game import Raw
from botdrome.kit.fork import HUMAN, RECORDED, Continuation, continue_match
from botdrome.match.events import Player
from botdrome.match.match import Match
from botdrome.match.record import match_file, record_of, verify
from botdrome.offline.tournament import TournamentPlan, play_all
from tests.match.recorded_matches import lost_by_bob, recorded
from tests.match.telling import mark
from tests.offline.programs import GOOD, program

NAMES = ("one", "two")


def nobody(match: Match, player: Player) -> Raw:
    raise AssertionError("there is no person")


def forked(step: int, *entrants: str, number: int = 0) -> Continuation:
    return continue_match(*recorded(lost_by_bob()), step, entrants, NAMES, number, nobody)


@pytest.mark.usefixtures("answers_in_no_time")
@pytest.mark.parametrize("game", CATALOGUE)
def test_recorded_moves_lead_to_the_recorded_result(game: str, tmp_path: Path) -> None:
    plan = TournamentPlan(
        game, ("house:random", "house:random"), NAMES, 2, 1, 5, save=str(tmp_path)
    )
    for outcome in play_all(plan, 1):
        record, rules = restored(Path(outcome.file).read_bytes())
        middle = len(record.lines) // 4
        for entrants in ((RECORDED, RECORDED), ("house:random", RECORDED)):
            continuation = continue_match(record, rules, middle, entrants, NAMES, 0, nobody)
            assert continuation.match.result is not None
            again, same = restored(match_file(continuation.match, NAMES))
            verify(again, same)
            assert again.lines[0].input == record.lines[0].input
            if entrants[0] == RECORDED:
                assert continuation.match.result == outcome.result
                assert continuation.left == {}


def test_a_better_move_saves_the_match() -> None:
    continuation = forked(3, "house:perfect", "house:perfect")
    assert continuation.match.result is not None
    assert continuation.match.result.places == (1, 1)
    prefix = record_of(lost_by_bob(), NAMES).lines[:3]
    assert record_of(continuation.match, NAMES).lines[:3] == prefix


def test_a_house_bot_takes_over_when_recorded_moves_are_illegal(tmp_path: Path) -> None:
    """The program takes the first free space [0, 2], which is the recorded last move of
    player 0.
    """
    continuation = forked(3, RECORDED, program(tmp_path, GOOD))
    assert continuation.left == {0: 4}
    assert continuation.match.result is not None


def test_continuations_have_other_seeds() -> None:
    matches = [
        forked(0, "house:random", "house:random", number=number).match for number in range(5)
    ]
    assert len({str(match.inputs) for match in matches}) > 1
    again = forked(0, "house:random", "house:random", number=3).match
    assert again.inputs == matches[3].inputs


def test_a_person_is_asked_for_moves() -> None:
    asked = []

    def person(match: Match, player: Player) -> Raw:
        asked.append((match.steps, player))
        return next(iter(match.position.moves(match.seat_of(player))))

    continuation = continue_match(*recorded(lost_by_bob()), 3, (RECORDED, HUMAN), NAMES, 0, person)
    assert asked[0] == (3, 1)
    assert continuation.match.inputs[3][3] == mark(1, 0, 2)
    assert continuation.match.result is not None


def test_faults_of_bots_are_told(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("def bot(view):\n    return 1 / 0")
    continuation = forked(3, RECORDED, str(tmp_path / "bad.py"))
    assert continuation.faults[1].startswith("crash: ZeroDivisionError")
