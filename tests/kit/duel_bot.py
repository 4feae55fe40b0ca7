"""A bot of duel arena. With `waits` it reads only what is there as a whole, which is no fault. The
faults: `chunks` takes each chunk of bytes for one message, `characters`
counts characters instead of bytes, and `twice` notes its second answer to a question, although the
first one counts.
"""

import fcntl
import json
import select
import socket
import sys
import termios
from array import array
from contextlib import suppress
from typing import Any

host, port, name, fault = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]


def receive(sock: socket.socket, rest: bytearray) -> bytes:
    """The next message."""
    if fault == "chunks":
        return sock.recv(1 << 16)[4:]
    if fault == "waits":
        return awaited(sock, int.from_bytes(awaited(sock, 4), "big"))
    while len(rest) < 4 or size_of(rest) < int.from_bytes(rest[:4], "big"):
        data = sock.recv(1 << 16)
        if not data:
            return b""
        rest += data
    size = int.from_bytes(rest[:4], "big")
    size = (
        len(text_of(rest)[:size].encode(errors="surrogateescape"))
        if fault == "characters"
        else size
    )
    message = bytes(rest[4 : 4 + size])
    del rest[: 4 + size]
    return message


def awaited(sock: socket.socket, size: int) -> bytes:
    """Read bytes when that many are there; none: the connection is lost."""
    poll, there = select.poll(), array("i", [0])
    poll.register(sock, select.POLLRDHUP)
    while not poll.poll(1):
        fcntl.ioctl(sock, termios.FIONREAD, there)
        if there[0] >= size:
            return sock.recv(size) if size else b""
    return b""


def text_of(rest: bytearray) -> str:
    return rest[4:].decode(errors="surrogateescape")


def size_of(rest: bytearray) -> int:
    return len(text_of(rest) if fault == "characters" else rest[4:])


def send(sock: socket.socket, **message: object) -> None:
    text = json.dumps(message, ensure_ascii=False)
    size = len(text) if fault == "characters" else len(text.encode())
    sock.sendall(size.to_bytes(4, "big") + text.encode())


def choose(moves: list[list[int]]) -> list[int]:
    return next([x, y] for y in range(15) for x in range(0, 15, 1 + y % 2) if [x, y] not in moves)


def play(sock: socket.socket) -> None:
    rest, noted = bytearray(), dict[tuple[int, int], list[int]]()
    send(sock, username=name)
    while body := receive(sock, rest):
        message: dict[str, Any] = json.loads(body)
        if message.get("event") == "player_is_free":
            send(sock, event="find_opponent")
        elif message.get("event") == "get_move":
            board = message["board"]
            moves = board["_moves"]
            if fault == "twice":
                moves = moves[1 - len(moves) % 2 :: 2] + [
                    move for (one, _), move in noted.items() if one == board["_id"]
                ]
            x, y = noted[board["_id"], len(board["_moves"])] = choose(moves)
            send(sock, event="make_move", id=message["id"], x=x, y=y)


while True:
    with suppress(ConnectionError), socket.create_connection((host, port)) as connection:
        play(connection)
