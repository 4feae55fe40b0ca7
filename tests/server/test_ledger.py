"""The ledger: what is shown is what is stored, and the next change reckons with all others."""

from botdrome.server.ledger import Change, Ledger


def one_more(*names: str) -> Change[str, int]:
    return lambda look: {name: (look(name) or 0) + 1 for name in names}


def test_a_change_is_shown_when_it_is_stored() -> None:
    ledger = Ledger({"ada": 5})
    assert ledger.draft("m", one_more("ada", "bob")) == {"ada": 6, "bob": 1}
    assert ledger.lines == {"ada": 5}
    assert ledger.settle("m") == ({"ada": 6, "bob": 1}, {})
    assert ledger.lines == {"ada": 6, "bob": 1}


def test_the_next_change_reckons_with_those_that_are_being_stored() -> None:
    ledger: Ledger[str, int] = Ledger({})
    ledger.draft("first", one_more("ada"))
    assert ledger.draft("second", one_more("ada", "bob")) == {"ada": 2, "bob": 1}
    assert ledger.settle("first") == ({"ada": 1}, {})
    assert ledger.lines == {"ada": 1} and ledger.latest("ada") == 2
    assert ledger.settle("second") == ({"ada": 2, "bob": 1}, {})
    assert ledger.latest("ada") == 2 and ledger.latest("carl") is None


def test_nothing_remains_of_what_cannot_be_stored() -> None:
    ledger = Ledger({"ada": 5})
    ledger.draft("m", one_more("ada", "bob"))
    ledger.drop("m")
    assert ledger.lines == {"ada": 5} and ledger.latest("ada") == 5 and ledger.latest("bob") is None
    ledger.drop("m")


def test_what_was_reckoned_with_it_is_stored_once_more() -> None:
    ledger = Ledger({"ada": 5})
    ledger.draft("bad", one_more("ada"))
    assert ledger.draft("good", one_more("ada", "bob")) == {"ada": 7, "bob": 1}
    ledger.drop("bad")
    assert ledger.draft("next", one_more("ada")) == {"ada": 7}
    assert ledger.settle("good") == ({"ada": 6, "bob": 1}, {"ada": 6})
    assert ledger.settle("next") == ({"ada": 7}, {})
    assert ledger.lines == {"ada": 7, "bob": 1}


def test_another_draft_of_the_same_replaces_the_first() -> None:
    ledger = Ledger({"ada": 5})
    ledger.draft("m", one_more("ada"))
    assert ledger.draft("m", one_more("ada", "bob")) == {"ada": 6, "bob": 1}
    ledger.settle("m")
    assert ledger.lines == {"ada": 6, "bob": 1}
