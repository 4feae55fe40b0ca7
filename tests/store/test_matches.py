"""The contract of every store: matches, from start to end."""

import asyncio
from typing import Any

import pytest

from botdrome.store.entries import (
    AlreadyOver,
    MatchEntry,
    Note,
    StoreUnavailable,
    UnknownMatch,
    Unstorable,
    Wanted,
)
from botdrome.store.rows import LONG, compressed, packed, unpacked
from botdrome.store.store import Store, open_store
from tests.store.entries import GAME, a_bot, a_match, a_result, an_end, play

pytestmark = pytest.mark.anyio


async def test_a_match_that_has_begun_is_read_at_once(store: Store) -> None:
    match = MatchEntry(
        "m", GAME, ("ada", "bob"), 1_731_675_000_123, "cup", {"size": 3, "names": ["x"]}, 2**80 + 1
    )
    store.begin(match)
    assert await store.match("m") == match
    assert await store.matches(Wanted()) == [match]
    assert await store.record("m") is None
    assert await store.flight("m", 0) is None


async def test_a_match_that_has_ended_is_kept_with_all_that_belongs_to_it(store: Store) -> None:
    options: dict[str, Any] = {"win": 3}
    store.begin(a_match("m", contest="cup", options=options, seed=7))
    end = an_end(
        "m", (2, 1), record=bytes(range(256)) * 40, flights=(b"", b"\0\xff"), reason="so it was"
    )
    await store.finish(end)
    assert await store.match("m") == MatchEntry(
        "m",
        GAME,
        ("ada", "bob"),
        1000,
        "cup",
        options,
        7,
        "ended",
        2000,
        a_result(2, 1),
        end.view,
        "so it was",
    )
    assert await store.record("m") == end.record
    assert [await store.flight("m", player) for player in (0, 1, 2, -1, 10**30)] == [
        b"",
        b"\0\xff",
        None,
        None,
        None,
    ]


@pytest.mark.parametrize("length", [LONG // 2, LONG, 1_000_000])
async def test_long_flight_records_come_back_as_they_were(store: Store, length: int) -> None:
    flights = (
        b"all alike" * (length // 9),
        bytes(number * number % 251 for number in range(length)),
    )
    store.begin(a_match("m"))
    await store.finish(an_end("m", flights=flights))
    assert (await store.flight("m", 0), await store.flight("m", 1)) == flights


def test_what_repeats_itself_takes_little_room() -> None:
    flights = packed((b'{"board": ".........."}' * 1000,))
    assert len(compressed(flights)) < len(flights) / 10
    assert unpacked(compressed(flights)) == unpacked(flights)


async def test_a_match_can_be_aborted_with_and_without_a_result(store: Store) -> None:
    await play(store, a_match("drained"), 1, 1, status="aborted", reason="the server was stopped")
    store.begin(a_match("broken"))
    await store.finish(an_end("broken", (), status="aborted", result=None))
    drained, broken = await store.match("drained"), await store.match("broken")
    assert (
        drained and drained.result == a_result(1, 1) and drained.reason == "the server was stopped"
    )
    assert broken and broken.result is None and broken.status == "aborted"


async def all_of(store: Store) -> object:
    return (
        await store.match("m"),
        await store.record("m"),
        await store.flight("m", 0),
        await store.notes("book"),
    )


async def test_the_same_end_may_come_twice(store: Store) -> None:
    """As after a commit with an unknown outcome."""
    store.begin(a_match("m"))
    end = an_end("m", (1, 2), notes=(Note("book", "ada", {"wins": 1}),))
    await asyncio.gather(store.finish(end), store.finish(end))
    before = await all_of(store)
    await store.keep([Note("book", "ada", {"wins": 2})])
    store.begin(a_match("m"))
    await store.finish(end)
    assert await store.notes("book") == {"ada": {"wins": 2}}, (
        "the notes of an end are not written again"
    )
    await store.keep([Note("book", "ada", {"wins": 1})])
    assert await all_of(store) == before


async def test_another_end_of_the_same_match_is_refused(store: Store) -> None:
    store.begin(a_match("m"))
    first, second = (
        an_end("m", (1, 2)),
        an_end("m", (2, 1), record=b"another", flights=(b"x", b"y"), ended=9),
    )
    together = await asyncio.gather(
        store.finish(first), store.finish(second), return_exceptions=True
    )
    assert [type(answer) for answer in together] == [type(None), AlreadyOver]
    before = await all_of(store)
    with pytest.raises(AlreadyOver, match="m is ended"):
        await store.finish(second)
    assert await all_of(store) == before and await store.record("m") == first.record


async def test_a_match_that_was_aborted_by_others_does_not_end(store: Store) -> None:
    store.begin(a_match("m"))
    await store.abort_running("the server ended without notice", 5)
    with pytest.raises(AlreadyOver, match="m is aborted in the store, and cannot become ended"):
        await store.finish(an_end("m"))
    assert await store.notes("book") == {} and await store.record("m") is None


async def test_the_second_beginning_changes_nothing(store: Store) -> None:
    await play(store, a_match("m"))
    store.begin(a_match("m", ("carl", "dora", "emil"), 5))
    store.begin(a_match("other"))
    match = await store.match("m")
    assert match and match.players == ("ada", "bob") and match.status == "ended"
    assert await store.count(Wanted(all_of=["carl"])) == 0


async def test_the_end_of_an_unknown_match_names_it_and_spoils_no_other(store: Store) -> None:
    for name in ("a", "b"):
        store.begin(a_match(name))
    ends = [store.finish(an_end(name)) for name in ("a", "nowhere", "b")]
    first, wrong, last = await asyncio.gather(*ends, return_exceptions=True)
    assert (first, last) == (None, None)
    assert isinstance(wrong, UnknownMatch) and "nowhere" in str(wrong)
    assert await store.count(Wanted(status="ended")) == 2


async def test_a_value_that_no_database_takes_spoils_no_other(store: Store) -> None:
    store.begin(a_match("a"))
    store.begin(a_match("too late", started=2**70))
    answers = await asyncio.gather(
        store.finish(an_end("a")),
        store.register(a_bot("late", registered=2**63)),
        store.finish(an_end("too late")),
        store.register(a_bot("ada")),
        return_exceptions=True,
    )
    assert [type(answer) for answer in answers] == [
        type(None),
        Unstorable,
        UnknownMatch,
        type(None),
    ]
    assert await store.match("a") is not None and await store.bots() == [a_bot("ada")]


async def test_running_matches_are_aborted(store: Store) -> None:
    await play(store, a_match("ended"))
    for number in range(3):
        store.begin(a_match(f"running {number}"))
    assert await store.abort_running("the power went", 3000) == 3
    store.begin(a_match("later"))
    assert await store.abort_running("once more", 4000) == 1
    assert await store.abort_running("and again", 5000) == 0
    aborted = await store.match("running 1")
    assert aborted == a_match("running 1", status="aborted", ended=3000, reason="the power went")
    ended = await store.match("ended")
    assert ended and ended.status == "ended"


async def test_calls_take_effect_in_their_order(store: Store) -> None:
    store.begin(a_match("before"))
    aborting = asyncio.ensure_future(store.abort_running("between", 1))
    await asyncio.sleep(0)
    store.begin(a_match("after"))
    ending = asyncio.ensure_future(store.finish(an_end("never begun")))
    await asyncio.sleep(0)
    store.begin(a_match("never begun"))
    assert await aborting == 1
    with pytest.raises(UnknownMatch):
        await ending
    running = await store.matches(Wanted(status="running"))
    assert {match.id for match in running} == {"after", "never begun"}


async def test_a_thousand_matches_at_once(store: Store) -> None:
    matches = [a_match(f"m{number}", started=number) for number in range(1000)]
    await asyncio.gather(*(play(store, match) for match in matches))
    assert await store.count(Wanted(status="ended")) == 1000
    assert [match.id for match in await store.matches(Wanted(limit=3))] == ["m999", "m998", "m997"]


async def test_who_no_longer_waits_leaves_the_others_alone(store: Store) -> None:
    store.begin(a_match("a"))
    store.begin(a_match("b"))
    impatient, patient = (
        asyncio.ensure_future(store.finish(an_end("a"))),
        asyncio.ensure_future(store.finish(an_end("b"))),
    )
    await asyncio.sleep(0)
    impatient.cancel()
    await patient
    assert await store.count(Wanted(status="ended")) == 2


async def test_closing_writes_everything_first(url: str) -> None:
    store = await open_store(url)
    for number in range(50):
        store.begin(a_match(f"m{number}"))
    ends = [asyncio.ensure_future(store.finish(an_end(f"m{number}"))) for number in range(49)]
    await asyncio.sleep(0)
    await store.close()
    await asyncio.gather(*ends)
    await store.close()
    again = await open_store(url)
    assert (
        await again.count(Wanted(status="ended")),
        await again.count(Wanted(status="running")),
    ) == (49, 1)
    await again.close()


async def test_a_closed_store_says_so(store: Store) -> None:
    await store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        store.begin(a_match("m"))
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.register(a_bot("ada"))
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.match("m")


@pytest.mark.parametrize("count", [1, 2, 3, 20, 40])
async def test_any_number_of_matches_ends_in_one_batch(store: Store, count: int) -> None:
    ids = [f"m{number}" for number in range(count)]
    for number, match_id in enumerate(ids):
        store.begin(a_match(match_id, started=number))
    assert len(await store.matches(Wanted(status="running"))) == count
    places = [(1, 2) if number % 3 else (2, 1) for number in range(count)]
    ends = [an_end(*one) for one in zip(ids, places, strict=True)]
    await asyncio.gather(*map(store.finish, ends))
    stored = await store.matches(Wanted(oldest_first=True))
    assert [(match.id, match.result) for match in stored] == [(end.id, end.result) for end in ends]
    assert await store.count(Wanted(winner="ada")) == places.count((1, 2))
