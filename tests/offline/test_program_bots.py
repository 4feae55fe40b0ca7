"""Programs that play from views, and engines of Gomocup, as real processes."""

import sys
from pathlib import Path

import pytest

from botdrome.client.program import CannotStart
from botdrome.kit.rerun import memory_of
from botdrome.offline.seats import ProcessSeat, check_bot, make_seat
from botdrome.offline.tournament import MatchOutcome, TournamentPlan, play_all

LONG = 600_000
"""A time limit in ms that no test reaches."""
GOOD = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "begin" in message:
        print(json.dumps(message["begin"]), file=sys.stderr)
        print("true", flush=True)
    elif "view" in message:
        view = message["view"]
        free = [[r, c] for r in range(3) for c in range(3) if not view["board"][r][c]]
        print(json.dumps({"mark": view["marks"][view["you"]], "space": free[0]}), flush=True)
    else:
        print(json.dumps(message["end"]), file=sys.stderr)
"""
READY = "import sys\nsys.stdin.readline()\nprint('true', flush=True)\nsys.stdin.readline()\n"
ENGINE = """
import sys
stones, log = set(), open(sys.argv[1], "a")
def answer():
    x, y = next((x, y) for y in range(15) for x in range(0, 15, 2 if y % 2 else 1) if (x, y) not in stones)
    stones.add((x, y))
    print("MESSAGE I have thought", flush=True)
    print(f"{x},{y}", flush=True)
for line in sys.stdin:
    log.write(line); log.flush()
    word, _, rest = line.strip().partition(" ")
    if word in ("START", "RESTART"):
        stones.clear()
        print("OK", flush=True)
    elif word == "BEGIN":
        answer()
    elif word == "TURN":
        stones.add(tuple(map(int, rest.split(","))))
        answer()
    elif word == "END":
        break
"""


def entrant(folder: Path, prefix: str, code: str, *words: str) -> str:
    file = folder / "program.py"
    file.write_text(code)
    return f"{prefix}:{sys.executable} {file} {' '.join(words)}"


def played(game: str, bot: str, matches: int = 2, **options: object) -> list[MatchOutcome]:
    entrants = (bot, "house:random")
    plan = TournamentPlan(
        game, entrants, entrants, 2, matches, 7, limit=LONG, options=dict(options)
    )
    return list(play_all(plan, jobs=1))


def test_a_program_plays_from_views_and_stays_for_the_next_match(tmp_path: Path) -> None:
    outcomes = played("noughts-and-crosses", entrant(tmp_path, "view", GOOD), matches=4)
    assert {cause for outcome in outcomes for cause in outcome.result.causes} == {"complete"}
    assert all(not outcome.faults for outcome in outcomes)


@pytest.mark.parametrize(
    ("code", "cause", "words"),
    [
        (READY + "print('[0, 0', flush=True)\nsys.stdin.read()", "unreadable", "[0, 0"),
        (
            READY + "sys.stdout.write('1\\n2\\n')\nsys.stdout.flush()\nsys.stdin.read()",
            "unreadable",
            "2 lines in answer to one view: 2",
        ),
        (READY + "raise ValueError('no idea')", "crash", "ValueError: no idea"),
        (READY + "while True: sys.stdout.write('5' * 100000)", "flood", "a line of more than"),
    ],
)
def test_a_program_that_fails_is_told_why(
    tmp_path: Path, code: str, cause: str, words: str
) -> None:
    (outcome,) = played("noughts-and-crosses", entrant(tmp_path, "view", code), matches=1)
    assert outcome.result.causes[0] == cause
    assert words in outcome.faults[0]


def test_the_memory_of_a_program_can_be_measured(tmp_path: Path) -> None:
    seat = make_seat(entrant(tmp_path, "view", GOOD), "noughts-and-crosses", "a", 1)
    assert isinstance(seat, ProcessSeat)
    seat.begin({}, LONG)
    process, resident = memory_of(seat)
    seat.close()
    assert process > 0
    assert resident > 0


def test_a_program_that_is_silent_runs_out_of_time(tmp_path: Path) -> None:
    bot = entrant(tmp_path, "view", READY + "sys.stdin.read()")
    plan = TournamentPlan(
        "noughts-and-crosses", (bot, "house:random"), ("a", "b"), 2, 1, 7, limit=1
    )
    (outcome,) = play_all(plan, jobs=1)
    assert outcome.result.causes[0] == "timeout"


def test_an_engine_of_gomocup_plays_both_boards_and_the_next_match(tmp_path: Path) -> None:
    log = tmp_path / "log"
    outcomes = played("gomoku", entrant(tmp_path, "pbrain", ENGINE, str(log)))
    assert all(outcome.result.causes == ("complete", "complete") for outcome in outcomes)
    words = [line.partition(" ")[0] for line in log.read_text().splitlines()]
    assert words[0] == "START"
    assert words.count("RESTART") == 3
    assert log.read_text().splitlines()[1:6] == [
        "INFO timeout_turn 600000",
        "INFO timeout_match 0",
        "INFO max_memory 0",
        "INFO game_type 1",
        "INFO rule 0",
    ]


def test_an_engine_that_reports_an_error_is_out_with_its_words(tmp_path: Path) -> None:
    code = (
        "import sys\nsys.stdin.readline()\nprint('ERROR no such size', flush=True)\n"
        "sys.stdin.read()"
    )
    (outcome,) = played("gomoku", entrant(tmp_path, "pbrain", code), matches=1)
    assert "the engine answered 'ERROR no such size'" in outcome.faults[0]


def test_an_engine_plays_for_five_in_a_row_only(tmp_path: Path) -> None:
    (outcome,) = played(
        "gomoku",
        entrant(tmp_path, "pbrain", ENGINE, str(tmp_path / "log")),
        matches=1,
        win_length=4,
    )
    assert "the engines of Gomocup play for 5 in a row, not 4" in outcome.faults[0]


def test_an_engine_is_refused_for_other_games(tmp_path: Path) -> None:
    bot = entrant(tmp_path, "pbrain", ENGINE)
    with pytest.raises(CannotStart, match="the engines of Gomocup play gomoku, not bomberman"):
        check_bot(bot, "bomberman")


@pytest.mark.parametrize(
    ("bot", "words"),
    [("view:", "a program is missing after view:"), ("pbrain:./none", "there is no program")],
)
def test_a_missing_program_is_named(bot: str, words: str) -> None:
    with pytest.raises(CannotStart, match=words):
        check_bot(bot, "gomoku")
