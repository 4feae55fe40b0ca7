"""`replay:FILE.jsonl[:PLAYER]`: a bot that repeats the moves of a match file."""

from pathlib import Path

import pytest

from botdrome.catalogue import CATALOGUE
from botdrome.client.program import CannotStart
from botdrome.match.record import match_file
from botdrome.offline.seats import check_bot, recorded_turns
from botdrome.offline.tournament import MatchOutcome, TournamentPlan, play_all
from tests.cli.analysis.files import saved
from tests.match.recorded_matches import lost_by_bob, new_match, noughts
from tests.match.telling import mark

NOUGHTS = "noughts-and-crosses"


def played(game: str, *entrants: str, save: str = "", seed: int = 5) -> MatchOutcome:
    names = tuple(f"player {number}" for number in range(len(entrants)))
    (outcome,) = play_all(
        TournamentPlan(game, entrants, names, len(entrants), 1, seed, save=save), 1
    )
    return outcome


@pytest.mark.usefixtures("answers_in_no_time")
@pytest.mark.parametrize("game", CATALOGUE)
def test_two_recorded_players_play_their_match_again(game: str, tmp_path: Path) -> None:
    first = played(game, "house:random", "house:random", save=str(tmp_path))
    again = played(game, f"replay:{first.file}", f"replay:{first.file}:1")
    assert (again.result, again.faults) == (first.result, {})


def test_when_the_moves_run_out_it_resigns(tmp_path: Path) -> None:
    """The recorded moves of player 1 are [1, 1] and [2, 2]."""
    file = saved(tmp_path)
    code = (
        "turns = iter([[0, 1], [0, 2], [1, 0]])\n"
        "def bot(view): return {'mark': 'X', 'space': next(turns)}"
    )
    (tmp_path / "slow.py").write_text(code)
    outcome = played(NOUGHTS, str(tmp_path / "slow.py"), f"replay:{file}")
    assert outcome.faults == {1: "resigned: all 2 recorded moves are played"}
    assert outcome.result.places == (1, 2)


def test_a_refused_move_is_named(tmp_path: Path) -> None:
    """The recorded moves of player 0 are [0, 0], [0, 1] and [0, 2]."""
    (tmp_path / "thief.py").write_text("def bot(view): return {'mark': 'O', 'space': [0, 1]}")
    outcome = played(NOUGHTS, f"replay:{saved(tmp_path)}", str(tmp_path / "thief.py"))
    assert outcome.faults == {
        0: "illegal moves: recorded move 2 is refused here: space [0, 1] is taken"
    }
    assert outcome.refused[0] == 1


def test_a_match_with_fewer_players_has_no_moves_for_the_last(tmp_path: Path) -> None:
    file = saved(tmp_path, match=new_match("bomberman", rounds=4))
    outcome = played("bomberman", "house:random", "house:random", f"replay:{file}")
    assert outcome.faults[2].endswith("this match has players 0 to 1, and no player 2")


def test_turns_without_a_move_keep_their_place(tmp_path: Path) -> None:
    match = new_match("bomberman", rounds=4)
    for step in range(4):
        match.submit(0, {"action": "WAIT"}, match.deadline or 0)
        if step % 2:
            match.submit(1, {"action": "FLY"}, match.deadline or 0)
            match.submit(1, {"action": "WAIT"}, match.deadline or 0)
            match.submit(1, {"action": "PLACE_BOMB"}, match.deadline or 0)
        match.wake((match.deadline or 0) + 1)
    turns = recorded_turns(f"replay:{saved(tmp_path, match=match)}", "bomberman", 1)
    assert turns == [
        None,
        {"action": "PLACE_BOMB"},
        None,
        {"action": "WAIT"},
    ]  # there is one bomb, so the second is refused


def test_the_end_of_a_player_that_failed_is_no_move(tmp_path: Path) -> None:
    match = noughts()
    match.submit(0, mark(0, 0, 0), 0)
    match.expel(1, "crash", 1, "oh")
    assert recorded_turns(f"replay:{saved(tmp_path, match=match)}", NOUGHTS, 1) == []


@pytest.mark.parametrize(
    ("words", "game", "why"),
    [
        ("{file}", "gomoku", "this is a match of noughts-and-crosses, not of gomoku"),
        ("{file}:2", NOUGHTS, "this match has players 0 to 1, and no player 2"),
        ("{file}x", NOUGHTS, "the file cannot be read: No such file or directory"),
        ("{folder}/bad.jsonl", NOUGHTS, "bad.jsonl: "),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, words: str, game: str, why: str) -> None:
    file = saved(tmp_path)
    (tmp_path / "bad.jsonl").write_bytes(match_file(lost_by_bob(), ("a", "b"))[:100])
    with pytest.raises(CannotStart, match=why):
        check_bot("replay:" + words.format(file=file, folder=tmp_path), game)
