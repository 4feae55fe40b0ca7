"""Wishes of people: their pace, and the word by which they meet."""

import pytest

from botdrome.contest.lobby import Lobby, Seeker, Wish, table_wish
from botdrome.match.terms import PACES, PaceName

GOMOKU = Wish("gomoku")


def wish(pace: PaceName, invite: str | None = None) -> Wish:
    return Wish("gomoku", pace=pace, invite=invite)


@pytest.mark.parametrize("first", PACES)
@pytest.mark.parametrize("second", PACES)
def test_only_players_of_one_pace_meet(first: PaceName, second: PaceName) -> None:
    lobby = Lobby()
    assert lobby.seek(Seeker(0, "ann", wish(first))) is None
    assert (lobby.seek(Seeker(1, "bob", wish(second))) is not None) is (first == second)


def test_only_players_with_one_word_meet() -> None:
    lobby = Lobby()
    for ticket, word in enumerate(("sun", "moon", None)):
        assert lobby.seek(Seeker(ticket, f"ann{ticket}", wish("slow", word))) is None
    table = lobby.seek(Seeker(9, "bob", wish("slow", "moon")))
    assert table is not None and [seeker.name for seeker in table] == ["ann1", "bob"]


@pytest.mark.parametrize("bot_first", [True, False])
def test_a_named_bot_plays_at_the_pace_of_the_player_that_names_it(bot_first: bool) -> None:
    seekers = [("ada", GOMOKU, None), ("eve", wish("stepped"), "ada")]
    lobby = Lobby()
    first, second = seekers if bot_first else reversed(seekers)
    assert lobby.seek(Seeker(0, *first)) is None
    table = lobby.seek(Seeker(1, *second))
    assert table is not None and table_wish(table) == wish("stepped")
    assert len(lobby) == 0


@pytest.mark.parametrize(
    ("waits", "comes"),
    [
        (Seeker(0, "ada", GOMOKU, "bob"), Seeker(1, "eve", wish("slow"), "ada")),
        (Seeker(0, "ada", wish("stepped")), Seeker(1, "eve", wish("slow"), "ada")),
        (Seeker(0, "ada", wish("slow")), Seeker(1, "eve", GOMOKU, "ada")),
        (Seeker(0, "ada", Wish("gomoku", contest="cup")), Seeker(1, "eve", wish("slow"), "ada")),
        (
            Seeker(0, "ada", Wish("gomoku", options='{"size":9}')),
            Seeker(1, "eve", wish("slow"), "ada"),
        ),
    ],
)
def test_a_bot_is_not_taken_from_what_it_wants(waits: Seeker, comes: Seeker) -> None:
    lobby = Lobby()
    assert lobby.seek(waits) is None and lobby.seek(comes) is None


def test_organisers_find_bots_at_the_usual_pace_alone() -> None:
    lobby = Lobby()
    lobby.seek(Seeker(0, "eve", wish("slow")))
    lobby.seek(Seeker(1, "ann", wish("usual", "moon")))
    assert lobby.named("gomoku", "eve") is None and lobby.named("gomoku", "ann") is None
    lobby.seek(Seeker(2, "ann", GOMOKU))
    assert lobby.named("gomoku", "ann") is not None


@pytest.mark.parametrize(
    ("seeks", "open_to_house"),
    [
        (GOMOKU, True),
        (wish("slow"), True),
        (wish("slow", "moon"), False),
        (Wish("gomoku", 2, "{}", "cup"), False),
    ],
)
def test_the_house_keeps_out_of_contests_and_of_tables_among_friends(
    seeks: Wish, open_to_house: bool
) -> None:
    assert seeks.open_to_house is open_to_house
