"""Requests whose route is noted at their cached head are answered like the first of their kind.

httpx sends an Accept header, with which no route is noted; a client here sends none.
"""

import pytest

from botdrome.app import RunningServer
from botdrome.server.network.http import Exchange, known_head
from botdrome.server.network.http_request import plain_head
from botdrome.server.rooms.bomber_api import (
    MOST_COMMANDS,
    BomberApi,
    KnownCommands,
    keep_command,
)
from botdrome.wire.bomber.conversation import Act, ReadState, RegisterUser
from tests.server.rooms.bomber.clients import Api

pytestmark = pytest.mark.anyio


@pytest.fixture
def bare(one: Api) -> Api:
    """A client without an Accept header."""
    del one.client.headers["accept"]
    return one


@pytest.mark.parametrize(
    ("method", "path", "headers", "body", "status", "found"),
    [
        ("GET", "/state/ADA", {}, b"", 200, '"user_position"'),
        ("GET", "/state", {"X-User-Id": "ADA"}, b"", 200, '"user_position"'),
        ("GET", "/state", {}, b'{"user_id"', 200, '"users"'),
        ("GET", "/state/ADA", {"Accept": "text/x-python"}, b"", 200, "'user_position'"),
        ("POST", "/action/ADA", {}, b'{"action": "STATE"}', 200, '"user_position"'),
        ("POST", "/action/ADA", {}, b'{"action": "JUMP"}', 400, '"time_left"'),
        ("POST", "/action/ADA", {}, b'{"action"', 400, '"time_left"'),
        ("PUT", "/state", {}, b"", 405, '"METHOD_NOT_ALLOWED"'),
    ],
)
async def test_a_repeated_request_gets_the_same_answer(
    bare: Api,
    method: str,
    path: str,
    headers: dict[str, str],
    body: bytes,
    status: int,
    found: str,
) -> None:
    ada, _ = await bare.begin("Ada", "Bob")
    named = {name: value.replace("ADA", ada) for name, value in headers.items()}
    for _ in range(3):
        answer = await bare.ask(method, path.replace("ADA", ada), headers=named, content=body)
        assert (answer.status_code, found in answer.text) == (status, True), answer.text
        assert ("python" in answer.headers["content-type"]) == ("Accept" in headers)


async def test_a_repeated_body_means_something_else_on_another_route(bare: Api) -> None:
    ada, _ = await bare.begin("Ada", "Bob")
    body = b'{"user_id": "%b", "action": "WAIT"}' % ada.encode()
    for _ in range(3):
        for path, found in (
            ("", '"ACCEPTED"'),
            ("/action", '"ACCEPTED"'),
            ("/state", '"user_position"'),
            ("/register", "user_name is missing"),
            ("/action/nobody", '"UNKNOWN_USER"'),
        ):
            answer = await bare.ask("POST", path, content=body)
            assert found in answer.text, answer.text


async def test_a_repeated_message_for_a_certain_round_is_too_late(bare: Api) -> None:
    ada, bob = await bare.begin("Ada", "Bob")
    act = {"user_id": ada, "action": "WAIT", "state_number": 1}
    assert [(await bare.post(act))["response"] for _ in range(2)] == ["ACCEPTED"] * 2
    await bare.round((bob, "WAIT"))
    assert (await bare.post(act))["information"] == "TOO_LATE"


def test_only_commands_that_may_come_again_are_kept() -> None:
    known: KnownCommands = {}
    wait = Act("ada", "WAIT", None)
    keep_command(known, b"long" * 100, wait)
    keep_command(known, b"named", RegisterUser("Ada", "secret"))
    keep_command(known, b"round", Act("ada", "WAIT", 3))
    keep_command(known, b"after", ReadState("ada", 3))
    assert not known
    for number in range(MOST_COMMANDS + 1):
        keep_command(known, b"%d" % number, wait)
    keep_command(known, b"state", ReadState("ada"))
    assert known == {b"%d" % MOST_COMMANDS: wait, b"state": ReadState("ada")}


async def test_a_repeated_request_may_be_the_last_of_its_connection(bare: Api) -> None:
    for _ in range(3):
        answer = await bare.ask("GET", "/state", headers={"Connection": "close"})
        assert answer.headers["connection"] == "close"


class Answers(list[bytes]):
    """In place of the connection of an exchange."""

    def send(self, exchange: Exchange, data: bytes, last: bool) -> None:
        self.append(data)


async def test_ticks_that_are_due_come_before_each_request(shared: RunningServer) -> None:
    api, timers = shared.server_of(BomberApi), shared.desk.tables.tick_timers
    found = plain_head(b"GET /bomber/rest/state HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert found is not None
    request, _ = found
    head, answers, ticks = known_head(request, api), Answers(), list[int]()
    for number in range(3):
        timers.call_later(0, lambda number=number: ticks.append(number))  # type: ignore[misc]
        began = timers._now()
        one = Exchange(request, request.target, b"", head, "", answers, True, None, began)  # type: ignore[arg-type]
        api.handle(one)
        assert (ticks.pop(), len(answers), one.read >= began) == (number, number + 1, True)
    assert head.note is not None
