"""Answers that stay the same are made once."""

import pytest

from botdrome.api import replays
from botdrome.api.requests import Problem, ResponseHead
from botdrome.api.rest import executor, matches
from botdrome.api.rest.endpoint import RawRequest
from botdrome.api.rest.executor import AnswerCache
from botdrome.server.workers.jobs import PiecewiseResult, ServerCaller
from botdrome.store.entries import MatchEntry
from botdrome.store.store import Store
from tests.api.tables import entry_of, played_noughts

pytestmark = pytest.mark.anyio


def refuse(*message: object) -> None:
    raise AssertionError(message)


CALLER = ServerCaller(0, refuse, {})
"""For jobs that call nothing."""


def reply(size: int) -> PiecewiseResult:
    return PiecewiseResult(ResponseHead(size, 200, "text/plain"), [b"x" * size])


async def test_a_film_is_made_once_for_all_its_viewers(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await played_noughts(
        store,
        entry_of("m", "Ann", "Bob"),
        [(100, 0, 0), (200, 1, 1), (300, 1, 0), (400, 0, 2), (500, 2, 0)],
    )
    made: list[str] = []

    def counted(entry: MatchEntry, owners: list[str | None], record: bytes) -> bytes:
        made.append(entry.id)
        return replays.film_of_match(entry, owners, record)

    monkeypatch.setattr(matches, "film_of_match", counted)
    call = RawRequest("film", "", {"id": "m"}, "", gzip=True)
    first, second = [await executor.answer(CALLER, store.source, call) for _ in range(2)]
    assert (first, made) == (second, ["m"])
    for _ in range(2):
        with pytest.raises(Problem) as missing:
            await executor.answer(CALLER, store.source, RawRequest("film", "", {"id": "n"}, ""))
        assert missing.value.status == 404


def test_an_answer_is_kept_for_its_time() -> None:
    answers = AnswerCache(100)
    answers.keep("a", reply(60), until=10)
    assert answers.find("a", 9) == reply(60)
    assert answers.find("a", 10) is None
    answers.keep("a", reply(70), until=20)
    answers.keep("a", reply(60), until=30)
    answers.keep("b", reply(30))
    assert [answers.find(key, 11) for key in "ab"] == [reply(70), reply(30)]


def test_answers_that_nobody_wants_make_room() -> None:
    answers = AnswerCache(100)
    for key in ("a", "b"):
        answers.keep(key, reply(40))
    assert answers.find("a") == reply(40)
    answers.keep("c", reply(50))
    assert [answers.find(key) is None for key in "abc"] == [False, True, False]
    answers.keep("large", reply(101))
    assert [answers.find(key) is None for key in ("a", "c", "large")] == [False, False, True]
