"""Messages between the server and its workers."""

from contextvars import copy_context

import pytest

from botdrome.server.workers.jobs import CLIENT, MessageReader, Requester, frame, set_source


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_messages_are_whole_however_they_come(step: int) -> None:
    data = frame("job", 1, "me", "a:b", (2,)) + frame("taken", 1) + frame("piece", 1, b"x" * 500)
    frames = MessageReader()
    messages = [
        message for at in range(0, len(data), step) for message in frames.feed(data[at : at + step])
    ]
    assert messages == [("job", 1, "me", "a:b", (2,)), ("taken", 1), ("piece", 1, b"x" * 500)]


def test_a_request_for_another_client_is_charged_to_the_connection_that_it_came_over() -> None:
    def serve() -> object:
        CLIENT.set(Requester("1.2.3.4", "a peer"))
        set_source("5.6.7.8")
        return CLIENT.get()

    assert copy_context().run(serve) == Requester("5.6.7.8", "a peer")
