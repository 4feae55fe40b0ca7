"""Those who work on queries: who is at the phone needs no desk."""

from threading import Event

import pytest

from botdrome.api.graphql.workers import NoPhone, Workers
from tests.patience import PATIENCE


def test_who_is_at_the_phone_makes_room_and_takes_its_place_again() -> None:
    workers, called, answered, busy = Workers(desks=1, phones=1), Event(), Event(), Event()
    done: list[str] = []

    def phone() -> None:
        with workers.at_the_phone():
            called.set()
            answered.wait(PATIENCE)
        done.append("phoned")

    def work() -> None:
        answered.set()
        busy.wait(PATIENCE)
        done.append("worked")

    def too_many() -> None:
        with pytest.raises(NoPhone), workers.at_the_phone():
            raise AssertionError("there is one phone")
        done.append("refused")

    with workers:
        first = workers.submit(phone)
        assert called.wait(PATIENCE)
        workers.submit(too_many).result(PATIENCE)
        second = workers.submit(work)
        assert answered.wait(PATIENCE)
        busy.set()
        first.result(PATIENCE)
        second.result(PATIENCE)
    assert done == ["refused", "worked", "phoned"], "one at a time, though the answer had come"


def test_what_fails_leaves_its_desk() -> None:
    with Workers(desks=1, phones=1) as workers:
        assert isinstance(workers.submit(lambda: 1 // 0).exception(PATIENCE), ZeroDivisionError)
        assert workers.submit(divmod, 7, 2).result(PATIENCE) == (3, 1)
