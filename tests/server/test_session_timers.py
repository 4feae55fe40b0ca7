"""Sessions with the same time left share a timer of the loop."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from botdrome.server.lobby.desk import Desk
from botdrome.server.network.connection import Connection
from botdrome.server.network.limits import Timeouts
from botdrome.server.session import MOST_LENGTHS, ProtocolServer, Session
from botdrome.wire.conversation import Conversation, Out, Seconds

pytestmark = pytest.mark.anyio


class Patience:
    """A conversation that gives its client so many seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.deadline: Seconds | None = None

    def begin(self, now: Seconds) -> list[Out]:
        self.deadline = now + self._seconds
        return []


class Sessions:
    def __init__(self) -> None:
        self.desk = cast(Desk, SimpleNamespace(deadlines={}))

    def begin(self, seconds: float) -> Session:
        nothing: Any = SimpleNamespace(send=None)
        connection, server = cast(Connection, nothing), cast(ProtocolServer, nothing)
        return Session(connection, cast(Conversation, Patience(seconds)), server, self.desk)


async def test_lengths_that_no_session_uses_make_room_for_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: 100.0)
    sessions = Sessions()
    shared = sessions.desk.deadlines
    odd = [sessions.begin(10.5 + number) for number in range(MOST_LENGTHS)]
    assert not isinstance(sessions.begin(30.0)._timer, Timeouts), "all are in use"
    for session in odd[1:]:
        session.lost()
    usual = [sessions.begin(30.0) for _ in range(2)]
    assert all(session._timer is shared[30_000] for session in usual)
    assert shared.keys() == {10_500, 30_000} and len(shared[30_000]) == 2
