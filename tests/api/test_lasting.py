"""Answers that stay the same are made once."""

import pytest

from botdrome.api import films
from botdrome.api.pieces import Head
from botdrome.api.rest import matches, work
from botdrome.api.rest.endpoint import Call
from botdrome.api.rest.lasting import LastingAnswers
from botdrome.server.workers.jobs import Reply
from botdrome.store.store import MatchEntry, Store
from tests.api.tables import entry_of, played_noughts

pytestmark = pytest.mark.anyio


class Nothing:
    async def ask(self, errand: str, *args: object, waits: bool = False) -> object:
        raise AssertionError(errand)


def reply(size: int) -> Reply:
    return Reply(Head(size, 200, "text/plain"), [b"x" * size])


async def test_a_film_is_made_once_for_all_its_viewers(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    await played_noughts(store, entry_of("m", "Ann", "Bob"), [(100, 0, 0), (200, 1, 1), (300, 1, 0), (400, 0, 2), (500, 2, 0)])
    made: list[str] = []

    def counted(entry: MatchEntry, owners: list[str | None], record: bytes) -> bytes:
        made.append(entry.id)
        return films.stored_film(entry, owners, record)

    monkeypatch.setattr(matches, "stored_film", counted)
    call = Call("film", "", {"id": "m"}, "", packed=True)
    first, second = [await work.respond(Nothing(), store.source, call) for _ in range(2)]
    assert (first, made) == (second, ["m"])
    missing = [await work.respond(Nothing(), store.source, Call("film", "", {"id": "n"}, "")) for _ in range(2)]
    assert [answer.head.status for answer in missing] == [404, 404]


def test_answers_that_nobody_wants_make_room() -> None:
    answers = LastingAnswers(100)
    for key in ("a", "b"):
        answers.keep(key, reply(40))
    assert answers.find("a") == reply(40)
    answers.keep("c", reply(50))
    assert [answers.find(key) is None for key in "abc"] == [False, True, False]
    answers.keep("large", reply(101))
    assert [answers.find(key) is None for key in ("a", "c", "large")] == [False, False, True]
