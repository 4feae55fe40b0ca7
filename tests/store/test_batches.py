"""Matches and notes that are written together."""

from botdrome.store.changes import Keep, MatchBatch, Replace, begun, ended, replaced
from botdrome.store.entries import Note
from botdrome.store.rows import kept_row
from tests.store.entries import a_match, an_end


def test_the_latest_of_the_notes_of_one_batch_stands() -> None:
    """Also if one belongs to a match and the other does not."""
    first, second, third = (kept_row(Note("elo", "ada", {"wins": wins})) for wins in (1, 2, 3))
    batch = MatchBatch((), [1])
    batch.begin(begun(a_match("m")))
    batch.keep(Keep((first,)))
    batch.end(ended(an_end("m", notes=(Note("elo", "ada", {"wins": 2}),))))
    assert [*batch.steps()][-1] == Replace("notes", [second[1]])
    batch.keep(Keep((third,)))
    assert [*batch.steps()][-1] == Replace("notes", [third[1]])


def test_notes_are_written_in_the_same_order_by_all_nodes() -> None:
    """Otherwise two nodes lock each other's rows in PostgreSQL, and one loses its batch."""
    notes = [Note("elo", "bob", {}), Note("elo", "ada", {})]
    rows = [("contests", ("cup",)), *map(kept_row, notes), ("contest_log", ("cup", "1"))]
    assert [*replaced(rows)] == [*replaced(rows[::-1])]
