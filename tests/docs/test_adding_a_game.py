"""The page on adding a game is true."""

import pytest

from botdrome.bots.house import seated
from botdrome.games.game import BadOption
from botdrome.games.options import options_in, options_of, with_options
from botdrome.match.match import Match
from botdrome.match.record import match_file, read, verify
from botdrome.match.simulate import simulate
from tests.docs.example_game import CODE, FORMAT, RockPaperScissors, throw_anything


def test_the_example_plays_by_its_row_and_replays() -> None:
    bots = [seated(throw_anything, player) for player in range(2)]
    match = simulate(Match(FORMAT.game, 2, FORMAT.terms, 3), bots)
    assert match.steps == 5
    assert match.result is not None
    assert match.result.causes == ("complete", "complete")
    record = read(match_file(match, ["a", "b"]))
    verify(record, FORMAT.game)


def test_paper_beats_rock_and_anything_beats_nothing() -> None:
    position = RockPaperScissors(rounds=2)
    position = position.play({0: position.parse(0, {"throw": "rock"}), 1: position.parse(1, {"throw": "paper"})}, None)
    assert position.scores == (0, 1)
    assert position.play({0: 2}, None).scores == (1, 1)


def test_its_option_is_found_and_checked() -> None:
    assert list(options_of(FORMAT.game)) == ["rounds"]
    assert options_in(with_options(FORMAT.game, {"rounds": "9"})) == {"rounds": 9}
    with pytest.raises(BadOption, match="rounds: expected `int` >= 1"):
        with_options(FORMAT.game, {"rounds": 0})


def test_a_simple_game_is_short() -> None:
    assert len(CODE.splitlines()) < 80
