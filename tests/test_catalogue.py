"""Match files and the games that they are about."""

import pytest

from botdrome.catalogue import CATALOGUE, restored
from botdrome.match.match import Match
from botdrome.match.record import BadRecord, match_file

ROW = CATALOGUE["gomoku"]


def file(**changes: str) -> bytes:
    match = Match(ROW.game, 2, ROW.terms, 1)
    match.start()
    data = match_file(match, ["ada", "bob"]).decode()
    for old, new in changes.items():
        data = data.replace(f'"{old}"', f'"{new}"')
    return data.encode()


def test_a_file_gives_its_record_and_its_game() -> None:
    record, game = restored(file())
    assert (record.setup.names, game) == (("ada", "bob"), ROW.game)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"gomoku": "chess"}, "line 1: there is no game 'chess'; there are noughts-and-crosses, "),
        (
            {"win_length": "length"},
            "line 1: gomoku has no option 'length'; it has size, win_length",
        ),
    ],
)
def test_games_and_options_that_are_not_known_are_named(
    changes: dict[str, str], problem: str
) -> None:
    with pytest.raises(BadRecord) as caught:
        restored(file(**changes))
    assert str(caught.value).startswith(problem)
