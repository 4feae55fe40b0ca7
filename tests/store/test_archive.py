"""Export and restore: a whole store as lines, and back."""

import base64
import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import pytest

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import Entrant, FixtureResult
from botdrome.store import archive
from botdrome.store.contest_journal import ContestJournal
from botdrome.store.entries import BadExport, Note, Wanted
from botdrome.store.store import Store, open_store
from tests.store.entries import GAME, a_bot, a_match, an_end, play

pytestmark = pytest.mark.anyio


async def stream(lines: Iterable[bytes]) -> AsyncIterator[bytes]:
    for line in lines:
        yield line


async def exported(store: Store) -> list[bytes]:
    return [line async for line in store.export()]


@pytest.fixture
async def other(tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_store(f"sqlite:///{tmp_path}/other.db")
    yield store
    await store.close()


async def fill(store: Store) -> None:
    for number, name in enumerate(("", "ada", "NUL\0", "long" * 1000)):
        await store.register(a_bot(name, number, token_hash=None if number == 2 else "ff"))
    for number in range(7):
        match = a_match(
            f"m{number}",
            ("ada", "NUL\0"),
            number,
            contest="cup" if number % 2 else None,
            seed=2**40,
        )
        await play(store, match, 1, 2, record=bytes(range(256)), flights=(b"", b"\xff\0"))
    await play(store, a_match("drained"), 1, 1, status="aborted", reason="drained")
    store.begin(a_match("aborted"))
    await store.abort_running("crashed", 5)
    store.begin(a_match("running", options={"size": 3}))
    await store.keep(
        [
            Note(book, name, {"of": book})
            for book in ("boats", "elo")
            for name in ("ada", "NUL\0", "zoe")
        ]
    )


async def test_all_of_it_comes_back(store: Store, other: Store) -> None:
    await fill(store)
    lines = await exported(store)
    assert await other.restore(stream(lines)) == 20
    assert await exported(other) == lines
    assert await other.notes("elo") == await store.notes("elo") != {}
    for ask in (
        Wanted(),
        Wanted(all_of=["NUL\0"]),
        Wanted(status="running"),
        Wanted(contest="cup"),
    ):
        assert await other.matches(ask) == await store.matches(ask)
    assert await other.bots() == await store.bots()
    assert await other.contest_lines(GAME, "cup") == await store.contest_lines(GAME, "cup")
    assert [await other.flight("m1", player) for player in (0, 1)] == [b"", b"\xff\0"]


async def test_it_goes_in_and_out_in_small_pieces(
    store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "PAGE", 2)
    monkeypatch.setattr(archive, "PACKET", 1000)
    await fill(store)
    lines = await exported(store)
    assert await other.restore(stream(lines)) == 20
    assert await exported(other) == lines


async def test_what_is_there_stays_as_it_is(store: Store, other: Store) -> None:
    await fill(store)
    await other.register(a_bot("ada", 77, owner="another"))
    await play(other, a_match("m3", ("x", "y")), 2, 1)
    there = await other.match("m3"), await other.bot("ada"), await other.record("m3")
    lines = await exported(store)
    assert await other.restore(stream(lines)) == 18
    assert await other.restore(stream(lines)) == 0
    assert (await other.match("m3"), await other.bot("ada"), await other.record("m3")) == there
    assert await other.count(Wanted(all_of=["x"])) == 1


async def test_a_match_that_was_restored_running_can_end(store: Store, other: Store) -> None:
    await fill(store)
    await other.restore(stream(await exported(store)))
    await other.finish(an_end("running"))
    assert await other.count(Wanted(status="running")) == 0


async def test_contests_come_back_also_from_the_notes_of_older_files(
    store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "PAGE", 2)
    journal = ContestJournal(store, iter(range(1000, 2000)).__next__)
    cup = ContestDocument(name="cup", game="gomoku", title="NUL\0")
    await journal.create(cup, "olga", [Entrant(name) for name in ("ada", "bob", "cy")])
    result, annulled = FixtureResult((1, 2), match="m"), FixtureResult((2, 1))
    await journal.keep_results("cup", {"1.1.1": result, "1.2.1": annulled}, "arena", "played")
    await journal.annul_results("cup", {"1.2.1": annulled}, "olga", "again")
    lines = await exported(store)
    notes = [json.loads(line)["entry"] for line in lines if b'"note"' in line]
    assert {(note["book"], note["name"]) for note in notes} >= {
        ("contests", "cup"),
        ("contest entrants cup", "000002"),
        ("contest results cup", "1.1.1"),
        ("contest log cup", "000000000001001 000000"),
    }
    assert await other.restore(stream(lines)) == len(notes) == 9
    contests = ContestJournal(other)
    assert await contests.load("cup") == await journal.load("cup")
    assert await exported(other) == lines
    await contests.change_state("cup", "running", "olga")
    await contests.keep_results("cup", {"1.1.1": annulled}, "arena", "played")
    assert await other.restore(stream(lines)) == 0
    assert (await contests.load("cup")).results == {"1.1.1": annulled}
    assert [*await contests.contests(states=["running"])] == ["cup"]


async def test_an_empty_store(store: Store, other: Store) -> None:
    lines = await exported(store)
    assert [json.loads(line)["kind"] for line in lines] == ["botdrome store", "end"]
    assert await other.restore(stream(lines)) == 0


async def test_the_lines_are_what_the_manual_says(store: Store) -> None:
    await store.register(a_bot("ada"))
    await play(store, a_match("m"))
    head, bot, match, end = [json.loads(line) for line in await exported(store)]
    assert head == {"kind": "botdrome store", "version": 1}
    assert bot["kind"] == "bot" and bot["entry"]["name"] == "ada"
    assert match["kind"] == "match" and match["entry"]["id"] == "m"
    assert base64.b64decode(match["record"]) == an_end("m").record
    assert [base64.b64decode(flight) for flight in match["flights"]] == list(an_end("m").flights)
    assert end == {"kind": "end", "bots": 1, "matches": 1, "notes": 0, "classes": 0}


HEAD = b'{"kind":"botdrome store","version":1}'
BOT = (
    b'{"kind":"bot","entry":{"name":"ada","game":"gomoku","owner":"o","registered":1,'
    b'"token_hash":null}}'
)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([], "line 1: .*ends before its end"),
        ([b"rubbish"], "line 1: "),
        ([b""], "line 1: "),
        ([BOT], "line 1: the first line"),
        ([b'{"kind":"botdrome store","version":2}'], "line 1: version 2 is not known"),
        ([HEAD, BOT], "line 3: .*ends before its end"),
        ([HEAD, BOT, HEAD], "line 3: the first line, and no other"),
        ([HEAD, BOT, BOT[:-1]], "line 3: "),
        (
            [HEAD, BOT, BOT.replace(b'"registered":1', b'"registered":"x"')],
            "line 3: .*entry.registered",
        ),
        ([HEAD, BOT, BOT.replace(b"gomoku", b"g" * 5000)], "line 3: the name of a game"),
        (
            [HEAD, BOT, b'{"kind":"end","bots":1,"matches":1}'],
            "line 3: there should be 1 bot, 1 match, 0 notes and 0 classes",
        ),
        ([HEAD, BOT, b'{"kind":"end","bots":1,"matches":0}', BOT], "line 4: there are lines after"),
        ([HEAD, BOT, b'{"kind":"riddle"}'], "line 3: .*riddle"),
    ],
)
async def test_what_is_no_export_is_refused_with_its_line(
    store: Store, lines: list[bytes], why: str
) -> None:
    with pytest.raises(BadExport, match=why):
        await store.restore(stream(lines))
    bots: list[Any] = await store.bots()
    assert len(bots) == (len(lines) > 1), "what stands before is taken in"
