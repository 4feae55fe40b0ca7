"""A bot of noughts and crosses on a WebSocket.

The faults: `strict` refuses unknown keys, `impatient` waits only briefly.
"""

import json
import sys
from contextlib import suppress

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

url, name, password, fault = sys.argv[1:]
KEYS = {"authentication", "gameType", "name", "state", "turn"}


def play(socket: ClientConnection) -> None:
    socket.send(json.dumps({"gameType": "NOUGHTS_AND_CROSSES", "name": name, "password": password}))
    while True:
        message = json.loads(socket.recv(timeout=0.2 if fault == "impatient" else None))
        if fault == "strict" and (unknown := set(message) - KEYS):
            raise KeyError(*unknown)
        state = message.get("state")
        if state and name in state["waitingFor"]:
            mark = "X" if state["marks"]["X"] == name else "O"
            space = next(
                [row, column]
                for row in range(3)
                for column in range(3)
                if not state["board"][row][column]
            )
            socket.send(json.dumps({"mark": mark, "space": space}))


while True:
    with suppress(ConnectionClosed, ConnectionError), connect(url, compression=None) as connection:
        play(connection)
