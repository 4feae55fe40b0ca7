"""JSON of strangers is bounded before it is decoded, in every protocol."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from botdrome.games.battlecube import plan_in
from botdrome.games.game import IllegalMove
from botdrome.games.reading import MOST_VALUES, TooManyValues
from botdrome.wire.battlebot.conversation import MOST_ESCAPES, value_of
from botdrome.wire.boats.conversation import HostConversation
from botdrome.wire.bomber.request import BadRequest, read_message
from botdrome.wire.conversation import Close
from botdrome.wire.cube import UnreadableAnswer, read_answer, unpacked
from botdrome.wire.duel import read_frame
from botdrome.wire.framing.socketio import read_packet
from botdrome.wire.framing.streams import BadFrame
from botdrome.wire.tunnel import TunnelConversation

SOURCE = Path(__file__).parents[2] / "src" / "botdrome"
MANY = b"[%b[]]" % (b"[]," * MOST_VALUES)

READERS: dict[str, tuple[Callable[[bytes], Any], type[Exception]]] = {
    "Battlebot, and bots with a URL": (value_of, TooManyValues),
    "duel arena": (read_frame, BadFrame),
    "Bomberman": (read_message, BadRequest),
    "answers of Battlecube bots": (read_answer, UnreadableAnswer),
    "JSON in the text of such an answer": (
        lambda message: plan_in(message.decode(), 1),
        IllegalMove,
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_too_many_values_are_refused(name: str) -> None:
    read, refusal = READERS[name]
    with pytest.raises(refusal) as caught:
        read(MANY)
    assert not isinstance(caught.value, MemoryError | RecursionError)


def test_of_a_large_event_the_name_is_left() -> None:
    assert read_packet(f'2["NEW_GAME",{MANY.decode()}]').data == ["NEW_GAME", None]
    assert unpacked(MANY.decode()) == MANY.decode()


@pytest.mark.parametrize(
    "talk", [HostConversation(1.0, 9, 0.0), TunnelConversation(1.0, 1.0, 9, 1 << 16, 0.0)]
)
def test_a_login_with_too_many_values_is_closed(
    talk: HostConversation | TunnelConversation,
) -> None:
    told = talk.receive(b'{"name": "a", "password": "b", "token": %b}' % MANY, 0.0)
    assert [type(each) for each in told[-1:]] == [Close]


def test_a_broken_message_with_many_escapes_is_not_read_a_second_time() -> None:
    half = rb'"\ud800%b"' % (b"\\n" * (MOST_ESCAPES - 1))
    assert value_of(half) == "\ufffd" + "\n" * (MOST_ESCAPES - 1)
    with pytest.raises(msgspec.DecodeError):
        value_of(half[:-1] + b'\\n"')


DECODING = re.compile(
    r"(json\.decode|json\.loads|DECODER\.decode|ANSWERS?\.decode|LOGIN\.decode)\((?!bounded\()"
)
TRUSTED = {
    "api/requests.py": 1,  # it is bounded in the line before
    "api/rest/analysis.py": 2,  # stored evaluations
    "api/rest/bots.py": 1,  # options in their normal form
    "wire/battlebot/conversation.py": 3,  # bounded unless it is brief; brief logins; a second time
    "wire/cube.py": 1,  # bounded unless it is brief
    "wire/duel.py": 2,  # a second time; numbers and texts of fixed keys, and no others
    "server/lobby/desk.py": 1,  # options in their normal form
    "server/arena.py": 1,  # the server's own message
    "server/settings.py": 1,  # the operator's
    "match/record.py": 1,  # match files, which worker processes read
}
"""How often a file decodes JSON of its own or of a trusted program, or reads it a second time.

Nodes trust each other.
"""


def test_every_decoder_of_strangers_input_is_bounded() -> None:
    found: dict[str, int] = {}
    for layer in ("api", "games", "match", "server", "wire"):
        for file in (SOURCE / layer).rglob("*.py"):
            text = file.read_text()
            if file.parent.name != "nodes" and (times := len(DECODING.findall(text))):
                found[file.relative_to(SOURCE).as_posix()] = times
    assert found == TRUSTED
