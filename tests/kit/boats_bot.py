"""A bot of Xterm Boat Sinker that comes back to its game. The faults: `lines` takes each chunk of
bytes for whole lines, and `quits` ends when the connection is lost.
"""

import socket
import sys
from collections.abc import Iterator
from contextlib import suppress

host, port, name, fault = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
BOARD = (
    "".join(
        letter * size + "." * (10 - size)
        for letter, size in zip("ABCDE", (5, 4, 3, 3, 2), strict=True)
    )
    + "." * 50
)


def lines(sock: socket.socket) -> Iterator[list[str]]:
    rest = b""
    while data := sock.recv(1 << 16):
        *whole, rest = (rest + data).split(b"\n")
        if fault == "lines":
            whole, rest = data.splitlines(), b""
        for line in whole:
            yield line.decode().split("|")


def play(sock: socket.socket) -> None:
    boards = dict[str, str]()
    for kind, *values in lines(sock):
        if kind == "G":
            int(values[-1][1:])  # the length of the last boat
            sock.sendall(f"J|{name}|{BOARD}|secret of {name}\n".encode())
        elif kind == "B":
            boards[values[0]] = values[2]
        elif kind == "N" and values[0] == name:
            target = next(player for player in boards if player != name)
            y, x = divmod(boards[target].index("."), 10)
            sock.sendall(f"S|{target}|{x + 1}|{y + 1}\n".encode())


while True:
    with suppress(ConnectionError), socket.create_connection((host, port)) as connection:
        play(connection)
    if fault == "quits":
        sys.exit("the connection is lost")
