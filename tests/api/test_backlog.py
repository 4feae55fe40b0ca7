"""The backlog of a spectator."""

import pytest

from botdrome.api.spectators import BACKLOG_BYTES, BACKLOG_MESSAGES, Backlog, SpectatorTooSlow

pytestmark = pytest.mark.anyio


# The backlog, and the moment between the table and the store.


async def test_a_backlog_keeps_what_was_not_taken() -> None:
    backlog = Backlog()
    backlog.show(b"1")
    backlog.show(b"2")
    backlog.end()
    assert [await backlog.take(), await backlog.take(), await backlog.take()] == [b"1", b"2", None]


async def test_a_backlog_that_ends_without_a_message_can_be_used_again() -> None:
    backlog = Backlog()
    backlog.end()
    assert not await backlog.begun()
    backlog.show(b"1")
    backlog.end()
    assert await backlog.begun()
    assert [await backlog.take(), await backlog.take()] == [b"1", None]


@pytest.mark.parametrize(("size", "count"), [(1, BACKLOG_MESSAGES), (BACKLOG_BYTES // 4, 4)])
async def test_a_backlog_has_an_end(size: int, count: int) -> None:
    backlog = Backlog()
    for _ in range(count):
        backlog.show(b"x" * size)
    assert not backlog.cut.is_set()
    backlog.show(b"x")
    assert backlog.cut.is_set()
    backlog.show(b"never kept")
    with pytest.raises(SpectatorTooSlow):
        await backlog.take()


async def test_who_takes_in_time_is_never_cut_off() -> None:
    backlog = Backlog()
    for _ in range(3 * BACKLOG_MESSAGES):
        backlog.show(b"x" * 10_000)
        assert await backlog.take() is not None
    assert not backlog.cut.is_set()
