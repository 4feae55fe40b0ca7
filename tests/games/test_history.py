"""The moves so far, in order."""

from botdrome.games.gomoku import History


def test_it_lists_what_was_played_in_order() -> None:
    assert History[str]().then("a").then("b").then("c").listed() == ["a", "b", "c"]


def test_going_on_leaves_it_as_it_was() -> None:
    trunk = History[str]().then("a")
    first, second = trunk.then("b"), trunk.then("c")
    third = first.then("d")
    assert [each.listed() for each in (trunk, first, second, third)] == [
        ["a"],
        ["a", "b"],
        ["a", "c"],
        ["a", "b", "d"],
    ]


def test_its_end_is_its_own_wherever_the_others_go() -> None:
    trunk = History[str]().then("a")
    first, second = trunk.then("b"), trunk.then("c")
    assert [(len(each), each.last) for each in (trunk, first, second)] == [
        (1, "a"),
        (2, "b"),
        (2, "c"),
    ]


def test_what_it_lists_is_the_listener_s_own() -> None:
    history = History[str]().then("a")
    history.listed().append("b")
    assert history.listed() == ["a"]


def test_going_on_from_the_end_copies_nothing() -> None:
    history = History[str]().then("a")
    assert history.then("b")._tape is history._tape


def test_two_are_equal_when_they_list_the_same() -> None:
    trunk = History[str]().then("a")
    grown, other = trunk.then("b"), History[str]().then("a").then("b")
    assert grown == other
    assert hash(grown) == hash(other)
    assert trunk == History[str]().then("a")
    assert trunk != grown
    assert trunk != ["a"]
