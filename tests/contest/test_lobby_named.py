"""Waiting players are found by name, for any game."""

from botdrome.contest.lobby import ContestBook, Lobby, Seeker, Wish


def test_who_waits_for_anybody_is_found_by_name() -> None:
    lobby = Lobby()
    lobby.open_book("gomoku", "cup", ContestBook(1, {}))
    ann = Seeker(1, "Ann", Wish("battlecube", options='{"edge":4}'))
    choosy = Seeker(2, "Bob", Wish("battlecube"), opponent="Eve")
    other = Seeker(3, "Cid", Wish("bomberman"))
    contestant = Seeker(4, "Dan", Wish("gomoku", contest="cup"))
    for seeker in (ann, choosy, other, contestant):
        assert lobby.seek(seeker) is None
    assert lobby.named("battlecube", "Ann") == ann
    for game, name in (
        ("battlecube", "Bob"),
        ("battlecube", "Cid"),
        ("gomoku", "Dan"),
        ("battlecube", "nobody"),
    ):
        assert lobby.named(game, name) is None
    lobby.leave(ann)
    assert lobby.named("battlecube", "Ann") is None


def test_a_gathered_player_waits_unless_another_waits_for_its_name() -> None:
    lobby, wish = Lobby(), Wish("gomoku")
    ada, bob = Seeker(1, "ada", wish), Seeker(2, "bob", wish)
    assert lobby.seek(ada, gather=True) is None and lobby.seek(bob, gather=True) is None
    assert lobby.waiting(wish) == [ada, bob]
    fan = Seeker(3, "fan", wish, opponent="cid")
    assert lobby.seek(fan) is None
    cid = Seeker(4, "cid", wish)
    assert lobby.seek(cid, gather=True) == (fan, cid)
