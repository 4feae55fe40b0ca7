"""The contract of every store: notes."""

import pytest

from botdrome.store.entries import Note, UnknownMatch
from botdrome.store.store import Store
from tests.store.entries import a_match, an_end, play

pytestmark = pytest.mark.anyio

LONG = "long" * 1000


async def test_the_last_note_of_a_name_stands(store: Store) -> None:
    await store.keep(
        [
            Note("elo", "ada", {"rating": 1}),
            Note("elo", "bob", {}),
            Note("elo", "ada", {"rating": 2}),
        ]
    )
    await store.keep([Note("elo", "bob", {"rating": 3.5})])
    await store.keep([])
    assert await store.notes("elo") == {"ada": {"rating": 2}, "bob": {"rating": 3.5}}


async def test_books_are_apart_and_names_are_any_text(store: Store) -> None:
    await store.keep(
        [
            Note("elo", LONG, {"a": 1}),
            Note("boats", LONG, {"b": 2}),
            Note("boats", "NUL\0", {"c": [3]}),
        ]
    )
    assert await store.notes("elo") == {LONG: {"a": 1}}
    assert await store.notes("boats") == {LONG: {"b": 2}, "NUL\0": {"c": [3]}}
    assert await store.notes("none") == {}


async def test_notes_come_with_the_end_of_a_match_and_only_with_it(store: Store) -> None:
    await play(
        store,
        a_match("m"),
        1,
        2,
        notes=(Note("elo", "ada", {"wins": 1}), Note("elo", "bob", {"wins": 0})),
    )
    await store.finish(an_end("m", notes=(Note("elo", "ada", {"wins": 2}),)))
    with pytest.raises(UnknownMatch):
        await store.finish(an_end("never", notes=(Note("elo", "bob", {"wins": 7}),)))
    assert await store.notes("elo") == {"ada": {"wins": 1}, "bob": {"wins": 0}}


async def test_notes_take_the_place_of_another(store: Store) -> None:
    await store.keep([Note("late", LONG, {}), Note("late", "b", {})])
    await store.keep([Note("elo", "ada", {"wins": 1})], instead_of=("late", [LONG]))
    assert (await store.notes("late"), await store.notes("elo")) == (
        {"b": {}},
        {"ada": {"wins": 1}},
    )
    await store.keep([], instead_of=("late", ["b", "c"]))
    assert await store.notes("late") == {}


async def test_notes_are_struck_by_name(store: Store) -> None:
    await store.keep([Note("bans", LONG, {}), Note("bans", "b", {"x": 1}), Note("other", "b", {})])
    await store.strike("bans", [LONG, "not there"])
    assert await store.notes("bans") == {"b": {"x": 1}}
    assert await store.notes("other") == {"b": {}}
