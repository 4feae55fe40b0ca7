"""Results that are not read: a guest that keeps too many loses its oldest when others need the
room.
"""

import pytest

from botdrome.server.workers.jobs import JobFailed, UnreadResults, WorkersBusy
from botdrome.server.workers.pool import Workers

LARGE = "tests.server.workers.chores:large"


def test_while_there_is_room_nobody_loses_anything() -> None:
    results = UnreadResults(100)
    assert [results.add(job, "me", 25) for job in range(4)] == [[], [], [], []]
    results.remove(2)
    assert results.add(4, "me", 25) == []


def test_a_guest_that_keeps_most_makes_room_for_others() -> None:
    results = UnreadResults(100)
    for job in range(4):
        results.add(job, "greedy", 25)
    assert results.add(4, "modest", 30) == [0, 1]
    assert results.add(5, "modest", 20) == []
    results.remove(0)


def test_a_guest_makes_no_room_for_itself() -> None:
    results = UnreadResults(100)
    for job in range(4):
        results.add(job, "greedy", 25)
    with pytest.raises(WorkersBusy):
        results.add(4, "greedy", 25)
    assert results.add(5, "modest", 25) == [0], "what could not be kept has cost nobody anything"


def test_guests_that_keep_no_more_than_another_wants_lose_nothing() -> None:
    results = UnreadResults(100)
    for job, guest in enumerate("abcd"):
        results.add(job, guest, 25)
    with pytest.raises(WorkersBusy):
        results.add(4, "e", 25)
    assert results.add(5, "e", 24) == [0]


def test_what_is_larger_than_all_room_is_refused() -> None:
    results = UnreadResults(100)
    results.add(1, "a", 100)
    with pytest.raises(WorkersBusy):
        results.add(2, "b", 101)
    with pytest.raises(WorkersBusy):
        UnreadResults(100).add(1, "a", 101)


@pytest.mark.anyio
async def test_a_guest_that_does_not_read_its_results_makes_room_for_others() -> None:
    workers = Workers(1)
    unread = [await workers.run("slow", LARGE, 640, 100 << 10) for _ in range(4)]
    other = await workers.run("other", LARGE, 640, 100 << 10)
    assert len([piece async for piece in other.pieces()]) == 640
    with pytest.raises(JobFailed, match="read too slowly"):
        _ = [piece async for piece in unread[0].pieces()]
    assert len([piece async for piece in unread[1].pieces()]) == 640
    await workers.close()
