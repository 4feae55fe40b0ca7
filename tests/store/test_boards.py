"""The contract of every store: boards of a running match, which stay if the match never ends."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from botdrome.store.changes import Change, begun, ended
from botdrome.store.entries import AlreadyOver, Finish, Note
from botdrome.store.store import Store
from tests.store.entries import GAME, a_match, a_result, an_end

pytestmark = pytest.mark.anyio


def a_board(match_id: str, **other: Any) -> Finish:
    """One board is over, and the match goes on."""
    given = {
        "status": "running",
        "ended": None,
        "record": b"one board",
        "flights": (),
        "view": {"board": 1},
    }
    return an_end(match_id, (1, 1), **given | other)


async def test_a_board_is_kept_and_nobody_is_shown_it_while_the_match_runs(store: Store) -> None:
    match = a_match("m", contest="cup")
    store.begin(match)
    await store.finish(a_board("m", notes=(Note("elo", "ada", {"wins": 1}),)))
    assert await store.match("m") == match
    assert await store.record("m") is None and await store.flight("m", 0) is None
    assert await store.notes("elo") == {"ada": {"wins": 1}}
    assert await store.contest_lines(GAME, "cup") == []


@pytest.mark.parametrize("boards", [1, 2])
async def test_a_board_stands_when_the_server_was_killed(store: Store, boards: int) -> None:
    store.begin(a_match("m"))
    for number in range(boards):
        result = replace(a_result(1, 1), boards=a_result(1, 1).boards * (number + 1))
        await store.finish(
            a_board("m", view={"board": number}, record=b"board %d" % number, result=result)
        )
    assert await store.abort_running("it crashed", 3000) == 1
    match = await store.match("m")
    assert match and (match.status, match.ended, match.reason) == ("aborted", 3000, "it crashed")
    assert match.result == result and match.view == {"board": boards - 1}
    assert await store.record("m") == b"board %d" % (boards - 1)
    assert await store.flight("m", 0) is None


async def test_the_end_of_a_match_replaces_its_boards(store: Store) -> None:
    store.begin(a_match("m"))
    await store.finish(a_board("m"))
    end = an_end("m", (2, 1))
    await store.finish(end)
    match = await store.match("m")
    assert match and (match.status, match.ended, match.result, match.view) == (
        "ended",
        2000,
        end.result,
        end.view,
    )
    assert await store.record("m") == end.record and await store.flight("m", 1) == end.flights[1]


async def test_a_beginning_a_board_and_an_end_may_be_written_at_once(store: Store) -> None:
    store.begin(a_match("m"))
    store.begin(a_match("other"))
    end = an_end("m", (2, 1))
    await asyncio.gather(
        store.finish(a_board("m")), store.finish(a_board("other")), store.finish(end)
    )
    first, other = await store.match("m"), await store.match("other")
    assert first and (first.status, first.result) == ("ended", end.result)
    assert await store.record("m") == end.record
    assert other and other.status == "running"


async def test_a_board_of_a_match_that_others_aborted_is_refused(store: Store) -> None:
    store.begin(a_match("m"))
    await store.abort_running("it crashed", 3000)
    with pytest.raises(AlreadyOver, match="m is aborted"):
        await store.finish(a_board("m", notes=(Note("elo", "ada", {"wins": 1}),)))
    assert await store.notes("elo") == {}


async def test_a_board_may_come_twice(store: Store) -> None:
    store.begin(a_match("m"))
    board = a_board("m", notes=(Note("elo late", "m 1", {"wins": 1}),))
    await store.finish(board)
    await store.keep([Note("elo", "ada", {"wins": 1})], instead_of=("elo late", ["m 1"]))
    await store.finish(board)
    assert await store.notes("elo late") == {}, "it counts once"
    await store.abort_running("it crashed", 3000)
    assert await store.record("m") == b"one board"


async def test_a_board_of_a_match_that_is_over_changes_nothing(store: Store) -> None:
    store.begin(a_match("m"))
    end = an_end("m")
    await store.finish(end)
    await store.finish(a_board("m", notes=(Note("elo", "ada", {"wins": 1}),)))
    match = await store.match("m")
    assert match and (match.status, match.result) == ("ended", end.result)
    assert await store.notes("elo") == {}


async def test_the_last_of_several_boards_stands_when_a_lost_commit_is_repeated(
    store: Store,
) -> None:
    first, *later = (
        ended(a_board("m", result=a_result(*places), record=b"board %d" % number))
        for number, places in enumerate(((1, 2), (2, 1), (1, 1)))
    )
    batches: list[list[Change]] = [[begun(a_match("m")), first], [*later], [*later]]
    for batch in batches:
        await store._database.carry_out(batch)
    await store.abort_running("it crashed", 3000)
    match = await store.match("m")
    assert match and match.result == a_result(1, 1)
    assert await store.record("m") == b"board 2"
