"""Offline matches with a time bank: each player pays for its own thinking."""

from pathlib import Path
from typing import Any

from botdrome.catalogue import CATALOGUE
from botdrome.match.match import Match
from botdrome.match.record import match_file, read, verify
from botdrome.match.terms import Terms, read_time_control
from botdrome.offline.seats import FunctionSeat
from botdrome.offline.table import OfflineTable
from tests.docs.example_game import RockPaperScissors
from tests.offline import programs
from tests.offline.programs import program
from tests.offline.test_table import NAMES, first_free, played

NOUGHTS = CATALOGUE["noughts-and-crosses"].game


class Thinker(FunctionSeat):
    """Says that it took so many seconds."""

    seconds = 0.0

    def ask(self, view: Any, limit: float) -> tuple[Any, float]:
        return super().ask(view, limit)[0], self.seconds


def match_of(game: Any, bot: Any, control: str, *seconds: float) -> Match:
    match = Match(game, 2, Terms(read_time_control(control), strikes=1), 1)
    seats = [Thinker(bot, False) for _ in seconds]
    for seat, spent in zip(seats, seconds, strict=True):
        seat.seconds = spent
    OfflineTable(match, seats, NAMES).play()
    verify(read(match_file(match, NAMES)), game)
    return match


def test_thinking_is_taken_from_the_bank() -> None:
    match = match_of(NOUGHTS, first_free, "10+1", 1.5, 0.25)
    assert match.result is not None and match.result.causes == ("complete", "complete")
    assert match.clocks.left == [10_000 - 4 * 500, 10_000 + 3 * 750]


def test_a_player_whose_bank_is_empty_is_out() -> None:
    match = match_of(NOUGHTS, first_free, "5", 0.5, 2.0)
    assert match.result is not None and match.result.causes == ("complete", "timeout")


def test_players_of_one_step_do_not_pay_for_each_other() -> None:
    match = match_of(RockPaperScissors(rounds=3), lambda view: {"throw": "rock"}, "60", 2.0, 3.0)
    assert match.clocks.left == [60_000 - 3 * 2000, 60_000 - 3 * 3000]


def test_programs_pay_too(tmp_path: Path) -> None:
    match, _ = played(
        program(tmp_path, programs.GOOD), first_free, Terms(read_time_control("600"), strikes=3)
    )
    assert match.result is not None and match.result.causes == ("complete", "complete")
    assert all(0 < left <= 600_000 for left in match.clocks.left)
