"""Which node answers a request."""

import pytest

from botdrome.server.network.http_request import read_line
from botdrome.server.nodes.cluster import Key, rooms_of
from botdrome.server.nodes.forwarding import Routing

ROUTING = Routing(
    [
        ("/bomber/", "bomberman"),
        ("/socket.io/", "battlecube"),
        ("/api/v1/operator/cube", "battlecube"),
        ("/duel/", "gomoku"),
        ("/api/v1/duel/players", "gomoku"),
    ]
)


@pytest.mark.parametrize(
    ("target", "key"),
    [
        (b"/", None),
        (b"/healthz", None),
        (b"/bots", None),
        (b"/api/v1/matches?game=gomoku", None),
        (b"/api/v1/contest-documents/cup", None),
        (b"/bomber/rest?user_id=1", rooms_of("bomberman")),
        (b"/socket.io/?EIO=4", rooms_of("battlecube")),
        (b"/duel/results_table", rooms_of("gomoku")),
        (b"/api/v1/duel/players", rooms_of("gomoku")),
        (b"/api/v1/duel/boards", None),
        (b"/api/v1/operator/cube/1", rooms_of("battlecube")),
        (b"http://arena.example.org/duel/results_table", rooms_of("gomoku")),
        (b"/%62omber/rest", rooms_of("bomberman")),
        (b"/connect", None),
        (b"*", None),
        (b"", None),
    ],
)
def test_a_target_says_what_a_request_needs(target: bytes, key: Key | None) -> None:
    line = read_line(b"GET " + target + b" HTTP/1.1\r\n")
    assert ROUTING.key_of(b"" if line is None else line.target) == key
