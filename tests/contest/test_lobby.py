"""Pairing in the lobby."""

from itertools import count

import pytest

from botdrome.contest.lobby import (
    BOOKS,
    ContestBook,
    Lobby,
    Names,
    Seeker,
    Wish,
    in_a_wish,
    table_wish,
)

NOUGHTS = Wish("noughts-and-crosses")
CUP = Wish("noughts-and-crosses", contest="cup")


class Hall:
    """A lobby with names in place of seekers."""

    def __init__(self, wish: Wish = NOUGHTS, book: ContestBook | None = None) -> None:
        self.lobby, self._wish, self._tickets = Lobby(), wish, count()
        if book:
            self.lobby.open_book(wish.game, wish.contest or "", book)

    def arrive(self, name: str, opponent: str | None = None, wish: Wish | None = None) -> str:
        """The names that now play, or nothing."""
        table = self.lobby.seek(Seeker(next(self._tickets), name, wish or self._wish, opponent))
        return " ".join(seeker.name for seeker in table or ())


def test_who_waited_longest_plays_first_and_has_the_first_seat() -> None:
    hall = Hall()
    assert hall.arrive("ada") == ""
    assert hall.arrive("bob") == "ada bob"
    assert hall.arrive("cleo") == ""
    assert len(hall.lobby) == 1


def test_nobody_plays_itself_and_the_first_of_several_connections_goes_first() -> None:
    hall = Hall()
    assert [hall.arrive("ada") for _ in range(3)] == ["", "", ""]
    table = hall.lobby.seek(Seeker(99, "bob", NOUGHTS))
    assert table is not None
    assert [seeker.ticket for seeker in table] == [0, 99] and table_wish(table) == NOUGHTS
    assert len(hall.lobby) == 2


def test_only_equal_wishes_meet() -> None:
    hall = Hall()
    hall.arrive("ada")
    assert hall.arrive("bob", wish=Wish("gomoku")) == ""
    assert hall.arrive("bob", wish=Wish("noughts-and-crosses", options='{"size":4}')) == ""
    assert hall.arrive("bob", wish=CUP) == ""
    assert hall.arrive("bob") == "ada bob"


def test_a_named_opponent_is_waited_for() -> None:
    hall = Hall()
    assert hall.arrive("ada", opponent="bob") == ""
    assert hall.arrive("cleo") == ""
    assert hall.arrive("dan", opponent="ada") == "", "ada wants nobody but bob"
    assert hall.arrive("bob") == "ada bob"
    assert hall.arrive("eve") == "cleo eve"


def test_who_leaves_waits_no_longer() -> None:
    hall = Hall()
    ada = Seeker(50, "ada", NOUGHTS)
    assert hall.lobby.seek(ada) is None
    hall.lobby.leave(ada)
    hall.lobby.leave(ada)
    assert hall.arrive("bob") == ""
    assert len(hall.lobby) == 1


def test_a_larger_table_fills_with_different_names_in_the_order_of_arrival() -> None:
    hall = Hall(Wish("battleship", players=3))
    assert [hall.arrive(name) for name in ("ada", "ada", "bob")] == ["", "", ""]
    assert hall.arrive("bob") == ""
    assert hall.arrive("cleo") == "ada bob cleo"
    assert hall.arrive("cleo") == "ada bob cleo"
    assert len(hall.lobby) == 0


def test_nobody_sits_twice_at_a_larger_table() -> None:
    hall = Hall(Wish("battleship", players=3))
    hall.arrive("ada")
    hall.arrive("ada", opponent="cleo")
    assert hall.arrive("cleo") == ""


def test_in_a_contest_each_pair_meets_so_often_each_way() -> None:
    hall = Hall(CUP, ContestBook(2, {}))
    played = []
    for _ in range(6):
        hall.arrive("ada")
        if table := hall.arrive("bob"):
            played.append(table)
            hall.lobby.book(CUP).note(tuple(table.split()))  # type: ignore[union-attr]
    assert played == ["ada bob", "ada bob", "bob ada", "bob ada"]


def test_a_new_bot_meets_those_that_are_done_with_each_other() -> None:
    met: dict[Names, int] = {("ada", "bob"): 1, ("bob", "ada"): 1}
    hall = Hall(CUP, ContestBook(1, met))
    assert [hall.arrive("ada"), hall.arrive("bob")] == ["", ""]
    assert hall.arrive("cleo") == "ada cleo"
    hall.lobby.book(CUP).note(("ada", "cleo"))  # type: ignore[union-attr]
    assert hall.arrive("cleo") == "bob cleo"


def test_a_match_that_came_to_nothing_is_played_again() -> None:
    book = ContestBook(1, {("ada", "bob"): 1})
    assert book.order(("ada", "bob")) == ("bob", "ada")
    book.note(("ada", "bob"), -1)
    assert book.order(("ada", "bob")) == ("ada", "bob")


def test_a_contest_is_complete_for_a_bot_that_has_met_all_others() -> None:
    book = ContestBook(1, {("ada", "bob"): 1})
    assert not book.complete_for("ada")
    book.note(("bob", "ada"))
    assert not book.complete_for("ada"), "that match still runs"
    book.end(("bob", "ada"))
    assert book.complete_for("ada")
    book.enter("cleo")
    assert not book.complete_for("ada")
    assert not ContestBook(5, {}).complete_for("ada"), "alone, nothing is complete"


def test_a_contest_at_larger_tables_moves_the_seats_on() -> None:
    wish = Wish("battleship", players=3, contest="cup")
    hall = Hall(wish, ContestBook(1, {("ada", "bob", "cleo"): 1}))
    hall.arrive("ada")
    hall.arrive("bob")
    assert hall.arrive("cleo") == "bob cleo ada"


def test_a_contest_at_larger_tables_ends_after_every_table_with_each_player_first() -> None:
    wish = Wish("battleship", players=3, contest="cup")
    book = ContestBook(1, {})
    hall, names, played = Hall(wish, book), ("ada", "bob", "cleo", "dave"), []
    for turn in range(200):
        name = names[turn * 7 % 4 if turn % 3 else turn % 4]
        waits = any(seeker.name == name for seeker in hall.lobby.waiting(wish))
        if not waits and (table := tuple(hall.arrive(name).split())):
            book.note(table)
            book.end(table)
            played.append((table[0], frozenset(table)))
    assert len(played) == len(set(played)) == 4 * 3, (
        "four companies of three, and each of them in front once"
    )
    assert all(book.complete_for(name, 3) for name in names)
    assert not book.complete_for("ada", 2), "at tables of two nobody has come"


def test_a_contest_alone_is_complete_after_its_games() -> None:
    book = ContestBook(2, {("ada",): 1})
    assert not book.complete_for("ada", 1)
    book.note(("ada",))
    book.end(("ada",))
    assert book.complete_for("ada", 1)


def test_matches_that_run_in_the_store_count_as_meetings_but_complete_nothing() -> None:
    book = ContestBook(1, {("ada", "bob"): 1}, {("bob", "ada"): 1})
    assert book.order(("ada", "bob")) is None and not book.complete_for("ada")


def test_those_of_some_names_who_wait_in_a_contest() -> None:
    hall = Hall(CUP, ContestBook(1, {("ada", "bob"): 1, ("bob", "ada"): 1}))
    for name in ("ada", "bob", "ada"):
        assert hall.arrive(name) == ""
    assert [seeker.name for seeker in hall.lobby.waiting_in(CUP.game, "cup", ("ada", "cleo"))] == [
        "ada",
        "ada",
    ]
    assert hall.lobby.waiting_in(CUP.game, "league", ("ada",)) == []


def test_who_names_an_opponent_sits_at_no_larger_table_and_keeps_nobody_from_it() -> None:
    hall = Hall(Wish("battleship", players=3))
    hall.arrive("ada", "cleo")
    hall.arrive("bob")
    assert hall.arrive("cleo") == ""
    assert hall.arrive("dave") == "bob cleo dave"


@pytest.mark.parametrize("waiting", [10, 5000])
def test_thousands_who_wait_are_no_burden(waiting: int) -> None:
    hall = Hall()
    for _ in range(waiting):
        assert hall.arrive("ada") == ""
    for number in range(waiting):
        assert hall.arrive(f"bot {number}") == f"ada bot {number}"
    assert len(hall.lobby) == 0


def test_those_who_take_anybody_can_be_listed_of_each_name_the_first() -> None:
    hall = Hall(Wish("battleship", players=4))
    for name, opponent in (("bob", None), ("ada", "zoe"), ("bob", None), ("cleo", None)):
        hall.arrive(name, opponent)
    waiting = hall.lobby.waiting(Wish("battleship", players=4))
    assert [(seeker.ticket, seeker.name) for seeker in waiting] == [(0, "bob"), (3, "cleo")]
    assert hall.lobby.waiting(Wish("battleship")) == []


def test_contests_that_nobody_is_in_are_not_kept() -> None:
    lobby = Lobby()
    playing = ContestBook(1, {})
    playing.note(("ada", "bob"))
    lobby.open_book("gomoku", "playing", playing)
    lobby.open_book("gomoku", "waiting", ContestBook(1, {}))
    lobby.seek(Seeker(1, "ada", Wish("gomoku", contest="waiting")))
    for number in range(BOOKS):
        lobby.open_book("gomoku", f"named {number}", ContestBook(1, {}))
    kept = [
        name
        for name in ("playing", "waiting", "named 0", f"named {BOOKS - 2}")
        if lobby.book(Wish("gomoku", contest=name))
    ]
    assert kept == ["playing", "waiting", f"named {BOOKS - 2}"]
    lobby.close_books("battleship")
    assert lobby.book(Wish("gomoku", contest="playing")) is playing
    lobby.close_books("gomoku")
    assert lobby.book(Wish("gomoku", contest="playing")) is None


def test_odd_wishes_and_many_players_with_one_wish_hide_nobody() -> None:
    hall, named = Hall(), [f"friend {number}" for number in range(3)]
    for number in range(5):
        hall.arrive(f"odd {number}", wish=Wish("gomoku", options=str(number)))
    for friend in named:
        hall.arrive("ada", friend)
    for name in ("bob", "cid", "dan"):
        hall.arrive("x", name, Wish("gomoku"))
        hall.arrive(name, "nobody", Wish("gomoku"))
    hall.arrive("eve", wish=Wish("gomoku", contest="cup"))
    hall.arrive("fay", wish=Wish("gomoku", invite="word"))
    turns = [[one.name for one in hall.lobby.in_turn(turn, 4, 2)] for turn in range(5)]
    assert turns[:4] == [
        ["odd 0", "odd 1", "odd 2", "odd 3"],
        ["odd 4", "ada", "ada", "ada"],
        ["x", "bob", "cid", "x"],
        ["x"],
    ]
    assert turns[4] == turns[0]
    assert Lobby().in_turn(1, 4, 2) == []


def test_those_who_wait_are_listed_and_what_contests_still_have_to_see() -> None:
    lobby, cup, quiet = Lobby(), Wish("gomoku", contest="cup"), Wish("gomoku", contest="quiet")
    lobby.open_book("gomoku", "cup", ContestBook(1, {("ada", "bob"): 1}, {("bob", "ada"): 1}))
    lobby.open_book("gomoku", "quiet", ContestBook(1, {("ada", "bob"): 1}))
    seekers = (
        ("cid", cup),
        ("zoe", Wish("battleship")),
        ("dan", cup),
        ("eve", Wish("gomoku", invite="word")),
    )
    for ticket, (name, wish) in enumerate(seekers):
        lobby.seek(Seeker(ticket, name, wish))
    assert [seeker.name for seeker in lobby.invited(None)] == ["zoe"]
    assert [seeker.name for seeker in lobby.invited("word")] == ["eve"]
    assert list(lobby.unplayed()) == [
        (("gomoku", "cup"), names, 2)
        for names in (
            ("ada", "cid"),
            ("ada", "dan"),
            ("bob", "cid"),
            ("bob", "dan"),
            ("cid", "dan"),
        )
    ]
    lobby.seek(Seeker(9, "ada", quiet))
    assert (("gomoku", "quiet"), ("ada", "bob"), 1) in list(lobby.unplayed())


def test_the_order_in_which_options_are_given_makes_no_difference() -> None:
    assert in_a_wish({"width": 8, "boats": {"B": 2, "A": 3}}) == in_a_wish(
        {"boats": {"A": 3, "B": 2}, "width": 8}
    )
