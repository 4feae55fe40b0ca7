"""The offline table: functions and programs in any mix, and every way to fail."""

import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from botdrome.bots.house import house_bots, seated
from botdrome.catalogue import CATALOGUE
from botdrome.client.program import CannotStart
from botdrome.match.match import Match
from botdrome.match.terms import Pace, Terms, offline
from botdrome.offline.isolation import BotFault, BotLog, guarded
from botdrome.offline.seats import (
    FunctionSeat,
    ProcessSeat,
    ProgramSeat,
    Seat,
    check_bot,
    make_seat,
)
from botdrome.offline.table import OfflineTable
from tests.offline import programs
from tests.offline.programs import program

NOUGHTS = CATALOGUE["noughts-and-crosses"].game
SOON = Terms(Pace(150, first=150), strikes=3, hasty="illegal")
PATIENT = Terms(Pace(20_000), strikes=3)
NAMES = ("one", "two")
MATCH = {"game": "gomoku", "options": {}, "players": NAMES, "you": 0, "seed": 5, "limit": 5000}


def seat(entrant: str, player: int) -> Seat:
    return make_seat(entrant, "noughts-and-crosses", NAMES[player], 7 + player)


def played(
    one: Any, two: Any, terms: Terms = PATIENT, game: Any = NOUGHTS
) -> tuple[Match, OfflineTable]:
    seats = [
        seat(bot, player) if isinstance(bot, str) else FunctionSeat(bot, False)
        for player, bot in enumerate((one, two))
    ]
    match = Match(game, 2, terms, 1)
    table = OfflineTable(match, seats, NAMES)
    try:
        table.play()
    finally:
        for each in seats:
            each.close()
            if isinstance(each, ProgramSeat):
                assert each.program._process.poll() is not None, "a program outlived its match"
    assert match.result is not None
    return match, table


def first_free(view: dict[str, Any]) -> Any:
    for row in range(3):
        for column in range(3):
            if not view["board"][row][column]:
                return {"mark": view["marks"][view["you"]], "space": (row, column)}


def test_a_program_plays_a_function(tmp_path: Path) -> None:
    match, table = played(program(tmp_path, programs.GOOD), first_free)
    assert match.result is not None
    assert match.result.causes == ("complete", "complete")
    assert match.result.winner == 0
    assert table.faults == {}


def test_two_programs_meet_and_one_may_log_in_first(tmp_path: Path) -> None:
    polite, talkative = (
        program(tmp_path, programs.POLITE, "a.py"),
        program(tmp_path, programs.TALKATIVE, "b.py"),
    )
    match, table = played(polite, talkative)
    assert match.result is not None
    assert match.result.causes == ("complete", "complete")
    assert table.refused == [0, 0]


@pytest.mark.parametrize(
    ("code", "cause", "words"),
    [
        (programs.CRASHING, "crash", "crash: it ended with status 1: ValueError: no idea"),
        (programs.SILENT_END, "crash", "crash: it closed its output"),
        (programs.KILLED, "crash", "crash: it was ended by SIGKILL"),
        (programs.NOISY, "crash", "crash: it ended with status 3: the end"),
        (
            programs.RUBBISH,
            "unreadable",
            "unreadable: JSON is malformed: invalid character (byte 0): hello world",
        ),
        (programs.BOTTOMLESS, "unreadable", "unreadable: maximum recursion depth exceeded"),
        (programs.FLOODING, "flood", "flood: more than "),
        (programs.ENDLESS_LINE, "flood", "flood: a line of more than 1048576 bytes"),
    ],
)
def test_a_program_that_fails_loses_with_the_cause_named(
    tmp_path: Path, code: str, cause: str, words: str
) -> None:
    terms = Terms(Pace(20_000))
    match, table = played(
        program(tmp_path, code), program(tmp_path, programs.GOOD, "good.py"), terms
    )
    assert match.result is not None
    assert match.result.places == (2, 1)
    assert match.result.causes == (cause, "complete")
    assert table.faults[0].startswith(words)


def test_a_program_that_hangs_is_out_of_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botdrome.offline.table.START", 0.2)  # it is not late before
    match, table = played(program(tmp_path, programs.DEAF), first_free, SOON)
    assert match.result is not None
    assert match.result.causes == ("timeout", "complete")
    assert table.faults == {0: "timeout: no move within 150 ms"}


def test_a_program_that_talks_out_of_turn_is_flooding(tmp_path: Path) -> None:
    match, table = played(
        program(tmp_path, programs.DEAF, "d.py"),
        program(tmp_path, programs.CHATTING),
        Terms(Pace(60_000)),
    )
    assert match.result is not None
    assert match.result.causes == ("complete", "flood")
    assert table.faults == {1: "flood: more than 200 messages in a row that were not taken"}


def test_a_program_at_fault_is_ended_while_the_others_play_on(tmp_path: Path) -> None:
    row = CATALOGUE["battleship"]
    house = [make_seat("house:random", "battleship", "b", seed) for seed in (1, 2)]
    bad = make_seat(program(tmp_path, programs.FLOODING), "battleship", "a", 1)
    match = Match(row.game, 3, row.terms, 1)
    table = OfflineTable(match, [bad, *house], ("a", "b", "c"))
    table.play()
    assert match.result is not None
    assert match.result.places[0] == 3
    assert match.result.causes == ("flood", "complete", "complete")
    assert isinstance(bad, ProgramSeat)
    assert bad.program._process.poll() is not None


def broken(view: dict[str, Any]) -> Any:
    raise KeyError("board")


def endless(view: dict[str, Any]) -> Any:
    while True:
        pass


@pytest.mark.parametrize(
    ("bot", "cause", "words"),
    [
        (broken, "crash", "crash: KeyError: 'board' (line "),
        (lambda view: object(), "crash", "crash: TypeError: "),
        (lambda view: {"mark": "X"}, "illegal moves", 'illegal moves: the key "space" is missing'),
        (lambda view: None, "illegal moves", "illegal moves: a move is a JSON object, not None"),
    ],
)
def test_a_function_that_fails_loses_with_the_cause_named(
    bot: Callable[[Any], Any], cause: str, words: str
) -> None:
    match, table = played(bot, first_free)
    assert match.result is not None
    assert match.result.causes == (cause, "complete")
    assert table.faults[0].startswith(words)


def test_a_function_that_never_returns_is_stopped() -> None:
    match, table = played(endless, first_free, Terms(Pace(1)))
    assert match.result is not None
    assert match.result.causes == ("timeout", "complete")
    assert re.fullmatch(
        r"timeout: no move within 1 ms, stopped in line \d+ of test_table.py", table.faults[0]
    )
    assert {now for now, *_ in match.inputs} == {0}, "no time of the clock is in the record"


def test_a_function_that_never_returns_is_stopped_even_without_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("botdrome.offline.table.UNLIMITED", 0.001)
    _, table = played(endless, first_free, Terms(Pace(None)))
    assert table.faults[0].startswith("timeout: no move within 0.001 s, stopped in line ")


def test_a_function_that_takes_too_long_is_late() -> None:
    def slow(view: dict[str, Any]) -> Any:
        for _ in range(400_000):
            pass
        return first_free(view)

    match, table = played(slow, first_free, Terms(Pace(1)))
    assert match.result is not None
    assert match.result.causes == ("timeout", "complete")
    assert (table.refused, table.late) == ([0, 0], [0, 0]), (
        "the timeout is counted, and the move that caused it is not"
    )


def test_a_late_move_that_puts_nobody_out_is_no_refused_one() -> None:
    match = Match(CATALOGUE["bumblebots"].game, 2, offline(CATALOGUE["bumblebots"].terms), 1)
    slow = TimedSeat("bumblebots", 0.0)
    table = OfflineTable(match, [slow, TimedSeat("bumblebots", 0.0)], ("one", "two"))
    slow.late_on = (3, 4, 20)
    table.play()
    assert (table.refused, table.late, table.faults) == ([0, 0], [3, 0], {})


class TimedSeat(FunctionSeat):
    """A house bot that needs a given time for each move."""

    def __init__(self, game: str, spent: float) -> None:
        super().__init__(seated(house_bots(game)["random"], 5), trusted=True)
        self.spent = spent
        self.late_on: tuple[int, ...] = ()
        """The numbers of its moves that are late."""

    def ask(self, view: dict[str, Any], limit: float) -> tuple[Any, float]:
        move, _ = super().ask(view, limit)
        return move, 3600.0 if self.effort.moves in self.late_on else self.spent


def timed(game: str, *spent: float) -> Match:
    row = CATALOGUE[game]
    match = Match(row.game, len(spent), offline(row.terms), 1)
    OfflineTable(
        match, [TimedSeat(game, each) for each in spent], ("one", "two", "three")[: len(spent)]
    ).play()
    return match


@pytest.mark.parametrize("game", ["bumblebots", "battleship", "gomoku"])
def test_the_same_seed_gives_the_same_record_however_slow_the_bots_are(game: str) -> None:
    first, usual = (float(CATALOGUE[game].terms.pace.allowed(step) or 0) / 1000 for step in (0, 1))
    assert timed(game, 0, 0).inputs == timed(game, usual, 0).inputs, "within the limit"
    late = timed(game, first + 0.001, 0)
    assert late.inputs == timed(game, first + 0.9, 0).inputs, "beyond it"
    assert late.result is not None
    assert late.result.causes == ("timeout", "complete"), "the opponent is not late"


def test_a_refused_move_without_a_limit_ends_in_expulsion() -> None:
    match, table = played(lambda view: 5, first_free, Terms(Pace(None)))
    assert match.result is not None
    assert match.result.causes == ("illegal moves", "complete")
    assert table.refused == [3, 0]


def test_a_refused_move_is_no_timeout() -> None:
    match, table = played(lambda view: 5, first_free, Terms(Pace(3_600_000)))
    assert match.result is not None
    assert match.result.causes == ("illegal moves", "complete")
    assert table.headline(0) == "lost at step 0: a move is a JSON object, not 5, third illegal move"


def test_functions_are_played_in_no_time_so_that_matches_can_be_repeated() -> None:
    once, _ = played("house:random", "house:random")
    again, _ = played("house:random", "house:random")
    assert once.inputs == again.inputs
    assert {now for now, *_ in once.inputs} == {0}


def test_the_time_limit_is_for_the_main_thread_only() -> None:
    rung = []

    def inside() -> None:
        with guarded(0.0001, BotLog()):
            rung.append(sum(range(200_000)))

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    assert rung
    with pytest.raises(BotFault, match="timeout"), guarded(0.0001, BotLog()):
        while True:
            pass


@pytest.mark.parametrize(
    ("entrant", "problem"),
    [
        (
            "house:nobody",
            "house:nobody: for noughts-and-crosses the house has random, blocker, perfect",
        ),
        ("cmd:", "cmd:: a program is missing after cmd:"),
        ("cmd:'", "cmd:': No closing quotation"),
        ("cmd:/no/such/program", "cmd:/no/such/program: there is no program '/no/such/program'"),
        ("no_such_file.py", "no_such_file.py: the file cannot be read: No such file or directory"),
        ("no_such_module:bot", "no_such_module:bot: there is no module 'no_such_module'"),
        ("json:nothing", "json:nothing: there is no function 'nothing' in json"),
    ],
)
def test_what_cannot_be_started_is_named(entrant: str, problem: str) -> None:
    with pytest.raises(CannotStart) as caught:
        check_bot(entrant, "noughts-and-crosses")
    assert str(caught.value).startswith(problem)


def test_a_file_with_a_fault_is_named(tmp_path: Path) -> None:
    (tmp_path / "faulty.py").write_text("def bot(view: return 1")
    with pytest.raises(CannotStart, match="SyntaxError"):
        check_bot(str(tmp_path / "faulty.py"), "noughts-and-crosses")


def test_a_program_that_is_no_program_cannot_start(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    with pytest.raises(CannotStart, match="No such file or directory"):
        seat(f"cmd:{script}", 0)


def test_a_class_is_made_anew_for_each_match(tmp_path: Path) -> None:
    path = tmp_path / "classy.py"
    path.write_text(
        "class Bot:\n    seen = 0\n    def __call__(self, view):\n        self.seen += 1\n"
        "        return self.seen\n"
    )
    for _ in range(2):
        made = seat(f"{path}:Bot", 0)
        assert isinstance(made, ProcessSeat)
        made.begin(MATCH, 60)
        assert made.ask({}, 60)[0] == 1
        assert made.effort.moves == 1
        made.close()


def test_this_interpreter_is_found() -> None:
    check_bot(f"cmd:{sys.executable}", "gomoku")
