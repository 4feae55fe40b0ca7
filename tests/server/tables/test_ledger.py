"""The ledger shows only stored values, and each change builds on all earlier ones."""

from hypothesis import given
from hypothesis import strategies as st

from botdrome.server.tables.ledger import Change, Ledger, Lines, Look


def one_more(*names: str) -> Change[str, int]:
    return lambda look: {name: (look(name) or 0) + 1 for name in names}


def test_a_change_is_shown_when_it_is_stored() -> None:
    ledger = Ledger({"ada": 5})
    assert ledger.draft("m", one_more("ada", "bob")) == {"ada": 6, "bob": 1}
    assert ledger.lines == {"ada": 5}
    assert ledger.settle("m") == {"ada": 6, "bob": 1}
    assert ledger.lines == {"ada": 6, "bob": 1}
    assert ledger.corrections() == {}


def test_the_next_change_reckons_with_those_that_are_being_stored() -> None:
    ledger: Ledger[str, int] = Ledger({})
    ledger.draft("first", one_more("ada"))
    assert ledger.draft("second", one_more("ada", "bob")) == {"ada": 2, "bob": 1}
    assert ledger.settle("first") == {"ada": 1}
    assert ledger.lines == {"ada": 1} and ledger.latest("ada") == 2
    assert ledger.settle("second") == {"ada": 2, "bob": 1}
    assert ledger.latest("ada") == 2 and ledger.latest("carl") is None
    assert ledger.corrections() == {}


def test_a_change_that_is_reported_early_waits_for_those_before_it() -> None:
    """Both changes and their sum are stored: no older value may overwrite it."""
    ledger = Ledger({"ada": 5})
    ledger.draft("board", one_more("ada"))
    assert ledger.draft("departure", one_more("ada")) == {"ada": 7}
    assert ledger.settle("departure") == {} and ledger.corrections() == {}
    assert ledger.lines == {"ada": 5} and ledger.latest("ada") == 7
    ledger.drop("departure")
    assert ledger.settle("board") == {"ada": 7} and ledger.corrections() == {}
    assert ledger.lines == {"ada": 7}


def test_a_change_that_waits_is_shown_when_those_before_it_are_dropped() -> None:
    ledger = Ledger({"ada": 5})
    ledger.draft("bad", one_more("ada"))
    ledger.draft("good", one_more("ada"))
    ledger.settle("good")
    assert ledger.drop("bad") == {"ada": 6}
    assert (
        ledger.lines == {"ada": 6}
        and ledger.corrections() == {"ada": 6}
        and ledger.corrections() == {}
    )


def test_nothing_remains_of_what_cannot_be_stored() -> None:
    ledger = Ledger({"ada": 5})
    ledger.draft("m", one_more("ada", "bob"))
    ledger.drop("m")
    assert ledger.lines == {"ada": 5} and ledger.latest("ada") == 5 and ledger.latest("bob") is None
    assert ledger.drop("m") == {}


def test_what_was_reckoned_with_it_is_stored_once_more() -> None:
    ledger = Ledger({"ada": 5})
    ledger.draft("bad", one_more("ada"))
    assert ledger.draft("good", one_more("ada", "bob")) == {"ada": 7, "bob": 1}
    ledger.drop("bad")
    assert ledger.settle("good") == {"ada": 6, "bob": 1}
    assert ledger.corrections() == {"ada": 6}


def test_a_line_is_not_corrected_while_a_newer_one_is_being_stored() -> None:
    ledger = Ledger({"ada": 5})
    ledger.draft("bad", one_more("ada"))
    ledger.draft("good", one_more("ada"))
    ledger.drop("bad")
    assert ledger.draft("next", one_more("ada")) == {"ada": 7}
    ledger.settle("good")
    assert ledger.corrections() == {}
    ledger.settle("next")
    assert ledger.lines == {"ada": 7} and ledger.corrections() == {}


def test_the_next_draft_of_an_entry_that_waits_does_not_replace_it() -> None:
    """A match has a draft for each board."""
    ledger = Ledger({"ada": 5})
    ledger.draft("other", one_more("ada"))
    ledger.draft("m", one_more("ada"))
    ledger.settle("m")
    assert ledger.draft("m", one_more("ada")) == {"ada": 8}
    assert ledger.settle("other") == {"ada": 7}
    assert ledger.settle("m") == {"ada": 8}


Words = tuple[str, ...]


class Disk:
    """A store that writes in the order of drafts, and reports to the ledger in any order."""

    def __init__(self) -> None:
        self.ledger: Ledger[str, Words] = Ledger({})
        self.lines: Lines[str, Words] = {}
        self.written: list[tuple[int, frozenset[str]]] = []
        self.handed: list[tuple[int, frozenset[str], Lines[str, Words]]] = []
        self.unreported: list[int] = []

    def draft(self, number: int, names: frozenset[str]) -> None:
        def change(look: Look[str, Words]) -> Lines[str, Words]:
            return {name: (*(look(name) or ()), str(number)) for name in names}

        self.handed.append((number, names, self.ledger.draft(number, change)))

    def write(self) -> None:
        """Write the oldest change."""
        if self.handed:
            number, names, lines = self.handed.pop(0)
            self.lines |= lines
            self.written.append((number, names))
            self.unreported.append(number)

    def refuse(self) -> None:
        if self.handed:
            self.ledger.drop(self.handed.pop(0)[0])
            self.correct()

    def report(self, which: int) -> None:
        """Tell the ledger of one of those that are on disk."""
        if self.unreported:
            self.ledger.settle(self.unreported.pop(which % len(self.unreported)))
            self.correct()

    def correct(self) -> None:
        """No correction removes stored results."""
        for name, line in self.ledger.corrections().items():
            assert line == self.all_of(name)
            self.lines[name] = line

    def all_of(self, name: str) -> Words:
        return tuple(str(number) for number, names in self.written if name in names)


STEPS = st.tuples(
    st.sampled_from(["draft", "write", "refuse", "report"]),
    st.integers(0, 9),
    st.sets(st.sampled_from("abc")),
)


@given(st.lists(STEPS, max_size=30))
def test_in_whatever_order_changes_are_reported_the_disk_has_them_all(
    steps: list[tuple[str, int, set[str]]],
) -> None:
    disk = Disk()
    for number, (what, which, names) in enumerate(steps):
        if what == "draft":
            disk.draft(number, frozenset(names))
        elif what == "report":
            disk.report(which)
        else:
            disk.write() if what == "write" else disk.refuse()
    while disk.handed or disk.unreported:
        disk.write()
        disk.report(0)
    made = {name: words for name in "abc" if (words := disk.all_of(name))}
    assert disk.ledger.lines == disk.lines == made
