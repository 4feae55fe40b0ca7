"""Messages between the server and its workers."""

import pytest

from botdrome.server.workers.jobs import MessageReader, frame


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_messages_are_whole_however_they_come(step: int) -> None:
    data = frame("job", 1, "me", "a:b", (2,)) + frame("taken", 1) + frame("piece", 1, b"x" * 500)
    frames = MessageReader()
    messages = [
        message for at in range(0, len(data), step) for message in frames.feed(data[at : at + step])
    ]
    assert messages == [("job", 1, "me", "a:b", (2,)), ("taken", 1), ("piece", 1, b"x" * 500)]
