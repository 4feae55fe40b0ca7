"""A bot of duel arena with a fault that the last argument names; `healthy` has none."""

import json
import socket
import sys
from contextlib import suppress

host, port, name, fault = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]


def receive(sock: socket.socket, rest: bytearray) -> bytes:
    """The next message."""
    if fault == "chunks":  # takes each chunk for one message
        return sock.recv(1 << 16)[4:]
    if fault == "joined":  # takes the first message of a chunk, and forgets the rest
        rest.clear()
    while len(rest) < 4 or len(rest) < 4 + int.from_bytes(rest[:4], "big"):
        data = sock.recv(1 << 16)
        if not data:
            return b""
        rest += data
    size = 4 + int.from_bytes(rest[:4], "big")
    message = bytes(rest[4:size])
    del rest[:size]
    return message


def send(sock: socket.socket, **message: object) -> None:
    body = json.dumps(message).encode()
    sock.sendall(len(body).to_bytes(4, "big") + body)


def choose(moves: list[list[int]]) -> tuple[int, int]:
    return next((x, y) for y in range(15) for x in range(0, 15, 1 + y % 2) if [x, y] not in moves)


def play(sock: socket.socket) -> None:
    rest, asked = bytearray(), ""
    sock.settimeout(0.5 if fault == "impatient" else None)
    send(sock, username=name)
    while body := receive(sock, rest):
        message = json.loads(body)
        if fault == "strict" and set(message) - {"status", "event", "against", "id", "board", "timeout", "color", "x", "y"}:
            raise KeyError(*message)
        if fault == "order" and next(iter(message)) not in ("status", "event"):
            raise ValueError(f"no event: {next(iter(message))}")
        if fault == "latin" and "against" in message:
            message["against"].encode("latin-1")
        if message.get("event") == "player_is_free":
            send(sock, event="find_opponent")
        elif message.get("event") == "get_move":
            if fault == "twice" and message["id"] == asked:
                raise RuntimeError("two questions at once")
            asked = message["id"]
            x, y = choose(message["board"]["_moves"])
            send(sock, event="make_move", id=asked, x=x, y=y)


while True:
    with suppress(ConnectionError), socket.create_connection((host, port)) as connection:
        play(connection)
    if fault == "quits":
        sys.exit("the connection is lost")
