"""The contract of every store: counts and searches for the pages."""

from functools import partial

import pytest

from botdrome.store import reports
from botdrome.store.changes import Plan, Run
from botdrome.store.entries import Note, Wanted
from botdrome.store.reports import ContestSummary, Meeting, Opponent, Seating
from botdrome.store.store import Store
from tests.store.entries import GAME, a_bot, a_match, play

pytestmark = pytest.mark.anyio
LONG = "long " * 200


async def ids(store: Store, wanted: Wanted) -> str:
    found = await store.matches(wanted)
    assert await store.count(wanted) == len(found)
    return " ".join(match.id for match in found)


async def test_matches_by_winner_and_time(store: Store) -> None:
    await play(store, a_match("a", started=1), 1, 2)
    await play(store, a_match("b", started=2), 2, 1)
    await play(store, a_match("c", started=3), 1, 1)
    await play(store, a_match("d", ("cid", "ada", "bob"), started=4), 2, 1, 3)
    await play(store, a_match("e", ("ada", "cid"), started=5, contest="cup"), 1, 2)
    store.begin(a_match("f", started=6))
    assert await ids(store, Wanted(winner="ada")) == "e d a"
    assert await ids(store, Wanted(winner="ada", all_of=["bob"])) == "d a"
    assert await ids(store, Wanted(winner="ada", any_of=["bob", "cid"], contest="cup")) == "e"
    assert await ids(store, Wanted(winner="nobody")) == ""
    assert await ids(store, Wanted(since=2, until=5)) == "d c b"
    assert await ids(store, Wanted(since=2, until=5, oldest_first=True)) == "b c d"
    assert await ids(store, Wanted(all_of=["cid"], since=5)) == "e"
    assert await ids(store, Wanted(oldest_first=True, all_of=["ada"])) == "a b c d e f"
    assert [
        match.id for match in await store.matches(Wanted(oldest_first=True, limit=2, offset=1))
    ] == ["b", "c"]


async def test_bots_in_any_order(store: Store) -> None:
    for name, registered, owner in (("b", 1, "x"), ("a", 2, "z"), ("c", 3, "y")):
        await store.register(a_bot(name, registered, owner=owner))

    async def names(**how: object) -> str:
        return "".join(bot.name for bot in await store.bots(**how))  # type: ignore[arg-type]

    assert await names() == "bac"
    assert await names(falling=True) == "cab"
    assert await names(order="name", limit=2) == "ab"
    assert await names(order="owner", falling=True) == "acb"


async def test_results_by_opponent(store: Store) -> None:
    await play(store, a_match("a", started=1), 1, 2)
    await play(store, a_match("b", started=2), 2, 1)
    await play(store, a_match("c", ("ada", LONG), started=3), 1, 1)
    await play(
        store, a_match("d", ("cid", "ada", "bob"), started=4, versions=("", "2", "7")), 2, 1, 3
    )
    await play(store, a_match("e", started=5), 1, 1, status="aborted")
    bob, cid = Opponent("bob", 3, 2, 0, 1, 4), Opponent("cid", 1, 1, 0, 0, 4)
    long = Opponent(LONG, 1, 0, 1, 0, 3)
    everybody = await store.reports.opponents("ada", 0, "games", True, 10, 0)
    assert (everybody[0][0], everybody[1]) == (bob, 3)
    assert (await store.reports.opponents("ada", 0, "last", False, 1, 0)) == ([long], 3)
    assert (await store.reports.opponents("ada", 4, "name", True, 10, 0)) == (
        [cid, Opponent("bob", 1, 1, 0, 0, 4)],
        2,
    )
    assert (await store.reports.opponents("ada", 0, "wins", True, 1, 1)) == ([cid], 3)
    assert await store.reports.causes("ada", 0) == {"complete": 4, "timeout": 1}
    assert await store.reports.causes("bob", 2) == {"complete": 2, "timeout": 1}
    meetings = await store.reports.meetings_of("ada", 0, 3)
    assert {meeting.opponent: meeting for meeting in meetings} == {
        "cid": Meeting(4, 4, 1, "cid", 2, "2"),
        "bob": Meeting(4, 4, 1, "bob", 3, "2", "7"),
        LONG: Meeting(3, 3, 1, LONG, 1),
    }


async def test_results_are_read_on_from_where_they_were_left(store: Store) -> None:
    await play(store, a_match("a", versions=("", "2")), 1, 2)
    store.begin(a_match("b"))
    store.begin(a_match("other", game="gomoku"))
    last = await store.reports.last_number()
    assert await store.reports.running(GAME, last) == {2}
    assert await store.reports.seatings(GAME, 0, last) == [
        Seating(1, "ada", 1, 1000),
        Seating(1, "bob", 2, 1000, "2"),
    ]
    await play(store, a_match("b"), 1, 1)
    assert await store.reports.running(GAME, last) == set()
    assert [seat.place for seat in await store.reports.seatings_of(GAME, [2, 3])] == [1, 1]
    assert await store.reports.seatings(GAME, last, await store.reports.last_number()) == []


async def test_an_empty_store_has_no_last_number(store: Store) -> None:
    assert await store.reports.last_number() == 0


async def test_contests_of_all_games(store: Store) -> None:
    await play(store, a_match("a", started=1, contest="cup"), 1, 2)
    store.begin(a_match("b", started=5, contest="cup"))
    await play(store, a_match("c", started=2, contest=LONG, game="gomoku"), 1, 2)
    cup, long = ContestSummary(GAME, "cup", 2, 1, 5), ContestSummary("gomoku", LONG, 1, 2, 2)
    assert await store.reports.contests(None, "last", True, 10, 0) == ([cup, long], 2)
    assert await store.reports.contests(None, "matches", False, 1, 1) == ([cup], 2)
    assert await store.reports.contests("gomoku", "name", False, 10, 0) == ([long], 1)


async def test_a_crosstable(store: Store) -> None:
    await play(store, a_match("a", contest="cup"), 1, 2)
    await play(store, a_match("b", ("bob", "ada", "cid"), contest="cup"), 1, 2, 2)
    await play(store, a_match("c", contest="other"), 1, 2)
    store.begin(a_match("d", contest="cup"))
    assert await store.reports.crosstable(GAME, "cup") == {
        ("ada", "bob"): (1, 0, 1),
        ("bob", "ada"): (1, 0, 1),
        ("ada", "cid"): (0, 1, 0),
        ("cid", "ada"): (0, 1, 0),
        ("bob", "cid"): (1, 0, 0),
        ("cid", "bob"): (0, 0, 1),
    }


async def test_search_finds_what_begins_so(store: Store) -> None:
    for name in ("Ada", "adam", "ADA LOVELACE", "bob", "ad"):
        await store.register(a_bot(name))
    for number in range(5):
        await play(store, a_match(f"ada{number}", ("adam", "ada (guest)"), contest="adas cup"))
    store.begin(a_match("xyz", ("adb", "bob"), contest="Adas other cup", game="gomoku"))
    found = await store.reports.search("ada", [GAME, "gomoku"], 4)
    assert found.bots == ["adam", "Ada", "ADA LOVELACE"]
    assert found.players == ["ada (guest)"]
    assert found.contests == [(GAME, "adas cup"), ("gomoku", "Adas other cup")]
    assert found.matches == ["ada0", "ada1", "ada2", "ada3"]
    assert (await store.reports.search("ADA3", [], 4)).matches == ["ada3"]
    assert (await store.reports.search("zz", [GAME], 4)).bots == []
    assert (await store.reports.search("ad", [GAME], 1)).bots == ["ad"]


async def test_one_note_and_the_latest(store: Store) -> None:
    await store.keep([Note("book", f"{number:03}", {"n": number}) for number in range(12)])
    assert await store.reports.note("book", "007") == {"n": 7}
    assert await store.reports.note("book", "7") is None
    assert await store.reports.latest_notes("book", 2, 1) == ([{"n": 10}, {"n": 9}], 12)


async def test_the_notes_of_a_book_in_pages(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    await store.keep(
        [
            Note(book, f"1.{number}.1", {"n": number})
            for book in ("a", "book", "c")
            for number in range(12)
        ]
    )
    monkeypatch.setattr(reports, "AT_ONCE", 5)
    pages = [page async for page in store.reports.note_pages("book")]
    assert [len(page) for page in pages] == [5, 5, 2]
    assert {name: value for page in pages for name, value in page.items()} == await store.notes(
        "book"
    )


async def test_numbers_without_a_match_are_missing(store: Store) -> None:
    for match_id in "abcde":
        await play(store, a_match(match_id))
    assert await store.reports.missing(0, 5) == set()
    for number in (1, 3, 4):
        await store.journal.enter(partial(_forget, number))
    assert await store.reports.missing(0, 5) == {1, 3, 4}
    assert await store.reports.missing(1, 5) == {3, 4}
    assert await store.reports.missing(5, 5) == set()


def _forget(number: int) -> Plan[None]:
    yield Run("DELETE FROM matches WHERE number = :number", {"number": number})
