"""A recorded match is played to a fresh copy of a bot."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from botdrome.catalogue import CATALOGUE, restored
from botdrome.kit.rerun import follow, rerun
from botdrome.match.record import Record
from botdrome.match.terms import Pace
from botdrome.offline.tournament import TournamentPlan, play_all
from tests.match.recorded_matches import lost_by_bob, new_match, noughts, recorded
from tests.match.telling import mark
from tests.offline import programs
from tests.offline.programs import program

FIRST_FREE = """
def bot(view):
    free = [[r, c] for r in range(3) for c in range(3) if not view["board"][r][c]]
    return {"mark": view["marks"][view["you"]], "space": free[0]}
"""
UNLUCKY = """
class bot:
    def begin(self, match):
        1 / 0
    def move(self, view):
        return None
"""
KEEPS_A_DIARY = """
import json, pathlib, sys
diary = open({diary!r}, "w")
for line in sys.stdin:
    diary.write(line); diary.flush()
    state = json.loads(line).get("state")
    if state and "player 0" in state["waitingFor"]:
        print(json.dumps({{"mark": "X", "space": [2, 0]}}), flush=True)
"""


def short(record: Record) -> Record:
    """The record of a match with a time limit of 10 ms."""
    return replace(
        record, setup=replace(record.setup, terms=replace(record.setup.terms, pace=Pace(10)))
    )


def written(folder: Path, code: str, name: str = "my_bot.py") -> str:
    (folder / name).write_text(code)
    return str(folder / name)


@pytest.mark.usefixtures("answers_in_no_time")
@pytest.mark.parametrize("game", CATALOGUE)
def test_house_bots_play_their_own_matches_again(game: str, tmp_path: Path) -> None:
    plan = TournamentPlan(
        game, ("house:random", "house:random"), ("one", "two"), 2, 1, 5, save=str(tmp_path)
    )
    for outcome in play_all(plan, 1):
        record, rules = restored(Path(outcome.file).read_bytes())
        for player in (0, 1):
            report = rerun(record, rules, player, "house:random", every=True)
            assert report.same
            assert report.asked > 0


def test_the_first_difference_is_reported_and_the_recorded_moves_go_on(tmp_path: Path) -> None:
    """The recorded moves of player 1 are [1, 1] and [2, 2]; the bot takes the first free space."""
    report = rerun(*recorded(lost_by_bob()), 1, written(tmp_path, FIRST_FREE), every=True)
    assert [found.step for found in report.divergences] == [1, 3]
    assert report.divergences[1].now == '{"mark":"O","space":[0,2]}'
    first = rerun(*recorded(lost_by_bob()), 1, written(tmp_path, FIRST_FREE), every=False)
    assert (first.asked, len(first.divergences)) == (1, 1)


def test_a_program_is_told_the_messages_of_the_match(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    report = rerun(
        *recorded(lost_by_bob()),
        0,
        program(tmp_path, KEEPS_A_DIARY.format(diary=str(diary))),
        every=True,
    )
    assert [found.step for found in report.divergences] == [0, 2, 4]
    told = [line for line in diary.read_text().splitlines() if '"turn"' in line]
    assert '"space":[0,0],"name":"player 0"' in told[0]
    assert '"space":[1,1],"name":"player 1"' in told[1]


def test_a_program_that_plays_as_recorded_is_the_same(tmp_path: Path) -> None:
    match = noughts()
    for number, space in enumerate([(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0)]):
        match.submit(number % 2, mark(number % 2, *space), 0)
    for player in (0, 1):
        assert rerun(*recorded(match), player, program(tmp_path, programs.POLITE), every=False).same


def test_a_refused_move_is_told_and_asked_again(tmp_path: Path) -> None:
    match = noughts()
    match.submit(0, mark(0, 0, 0), 0)
    for space in ((0, 0), (0, 1)):
        match.submit(1, mark(1, *space), 0)
    report = rerun(*recorded(match), 1, program(tmp_path, programs.GOOD), every=True)
    assert report.asked == 2
    assert [found.recorded for found in report.divergences] == [
        '{"mark":"O","space":[0,0]} (space [0, 0] is taken)'
    ]


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (programs.CRASHING, "crash: it ended with status 1"),
        (programs.RUBBISH, "unreadable: "),
        (programs.ENDLESS_LINE, "flood: "),
    ],
)
def test_a_program_that_fails_now(tmp_path: Path, code: str, why: str) -> None:
    report = rerun(*recorded(lost_by_bob()), 0, program(tmp_path, code), every=True)
    assert report.crash.startswith(why)
    assert (report.crashed_at, report.asked, report.same) == (0, 1, False)


def test_a_program_that_never_answers_makes_no_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botdrome.kit.rerun.START", 0.0)
    match = new_match("noughts-and-crosses")
    match.submit(0, mark(0, 0, 0), 0)
    record, game = recorded(match)
    answers = [
        answer for _, answer in follow(short(record), game, 0, program(tmp_path, programs.DEAF))
    ]
    assert [answer.fault for answer in answers] == ["no move within 0.01 s"]
    assert not answers[0].crashed


def test_a_function_that_fails_now(tmp_path: Path) -> None:
    report = rerun(
        *recorded(lost_by_bob()),
        0,
        written(tmp_path, "def bot(view):\n    return view['nothing']"),
        every=False,
    )
    assert report.crash == "crash: KeyError: 'nothing' (line 2 of my_bot.py)"
    report = rerun(*recorded(lost_by_bob()), 0, written(tmp_path, UNLUCKY, "other.py"), every=False)
    assert "ZeroDivisionError" in report.crash


def test_a_recorded_crash_that_no_longer_happens(tmp_path: Path) -> None:
    match = noughts()
    match.expel(0, "crash", 0, "ValueError")
    report = rerun(*recorded(match), 0, written(tmp_path, FIRST_FREE), every=True)
    assert [found.recorded for found in report.divergences] == ["no move (crash: ValueError)"]


def test_a_bot_sees_the_same_seed_and_names_as_in_the_match(tmp_path: Path) -> None:
    code = """
import pathlib
class bot:
    def begin(self, match):
        self.match = match
    def move(self, view):
        return self.match
    def end(self, result):
        pathlib.Path({file!r}).write_text(str(result["places"]))
"""
    (_, answer), *_ = follow(
        *recorded(lost_by_bob()), 1, written(tmp_path, code.format(file=str(tmp_path / "end")))
    )
    assert answer.raw["players"] == ["player 0", "player 1"]
    assert (answer.raw["you"], answer.raw["game"]) == (1, "noughts-and-crosses")
    (_, again), *_ = follow(
        *recorded(lost_by_bob()), 1, written(tmp_path, code.format(file=str(tmp_path / "end")))
    )
    assert again.raw == answer.raw
    assert (tmp_path / "end").read_text() == "[1, 2]"


def test_a_bot_may_join_in_the_middle(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    bot = program(tmp_path, KEEPS_A_DIARY.format(diary=str(diary)))
    asked = [question.step for question, _ in follow(*recorded(lost_by_bob()), 0, bot, first=2)]
    assert asked == [2, 4]
    _, state, *_ = diary.read_text().splitlines()
    assert '"board":[["X","",""],["","O",""],["","",""]]' in state
    assert '"turn"' not in state
    assert [
        question.step
        for question, _ in follow(*recorded(lost_by_bob()), 0, written(tmp_path, FIRST_FREE), 2)
    ] == [2, 4]
