"""A match between a client far away and one nearby, in a network namespace of its own.

unshare --net python -m tests.server.network.far_client FOLDER

The far client connects through a device whose packets this process returns with a delay, source and
destination exchanged: so its packets arrive at the server on this machine, and the answers at the
client. Prints the move times of both as JSON.
"""

import asyncio
import fcntl
import json
import os
import socket
import struct
import sys
import threading
from contextlib import suppress
from math import inf
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from botdrome.server.network import steady_loop
from botdrome.server.network.steady_loop import run
from botdrome.store.entries import Wanted
from tests.server.clients import registered, server

HERE, THERE = "10.9.0.1", "10.9.0.2"
ONE_WAY = 0.075
THINKING = 0.02
MOVES = 12
SET_DEVICE, SET_FLAGS, SET_ADDRESS, SET_MASK = 0x400454CA, 0x8914, 0x8916, 0x891C
TUN_WITHOUT_HEADER, UP = 0x1001, 0x1 | 0x40


def delayed_device() -> int:
    """A device that leads to 10.9.0.0/24, and its file."""
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, SET_DEVICE, struct.pack("16sH", b"far", TUN_WITHOUT_HEADER))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for request, address in ((SET_ADDRESS, HERE), (SET_MASK, "255.255.255.0")):
            value = struct.pack("16sHH4s8x", b"far", socket.AF_INET, 0, socket.inet_aton(address))
            fcntl.ioctl(control, request, value)
        for name in (b"far", b"lo"):
            fcntl.ioctl(control, SET_FLAGS, struct.pack("16sH14x", name, UP))
    return device


def return_packets(device: int) -> None:
    """Each after the same time, so that their order stays."""
    coming: list[tuple[float, bytes]] = []
    turn = threading.Condition()

    def give_back() -> None:
        while True:
            with turn:
                turn.wait_for(lambda: coming)
                due, packet = coming.pop(0)
            sleep(max(0.0, due - monotonic()))
            os.write(device, packet)

    threading.Thread(target=give_back, daemon=True).start()
    while True:
        packet = os.read(device, 65536)
        if packet[0] >> 4 == 4:
            with turn:
                coming.append(
                    (
                        monotonic() + ONE_WAY,
                        packet[:12] + packet[16:20] + packet[12:16] + packet[20:],
                    )
                )
                turn.notify()


async def play(url: str, login: dict[str, Any]) -> list[float]:
    """Play a game of gomoku in which nobody wins soon.

    Return the seconds of thinking for each move.
    """
    thinking: list[float] = []
    with suppress(ConnectionClosed):  # the other client has left
        async with connect(url, open_timeout=60, ping_interval=None) as line:
            await line.send(json.dumps(login))
            await line.recv()
            while len(thinking) < MOVES:
                message = json.loads(await line.recv())
                asked, state = monotonic(), message["state"]
                if state["result"] is not None:
                    break
                if login["name"] in state["waitingFor"]:
                    await asyncio.sleep(THINKING)
                    taken = len(state["moves"])
                    thinking.append(monotonic() - asked)
                    await line.send(json.dumps({"x": taken % 15, "y": taken // 15 * 2}))
    return thinking


async def main(folder: Path) -> list[dict[str, Any]]:
    threading.Thread(target=return_packets, args=(delayed_device(),), daemon=True).start()
    # A busy machine may stall this process. The clients count that time, so the server must, too.
    steady_loop.STALL = inf  # type: ignore[misc]
    async with server(folder, host=HERE) as house:
        port = house.url.rpartition(":")[2]
        logins = [await registered(house, name, "gomoku") for name in ("far", "near")]
        urls = [f"ws://{address}:{port}/" for address in (THERE, HERE)]
        thinking = await asyncio.gather(
            *(play(url, login) for url, login in zip(urls, logins, strict=True))
        )
        async with httpx.AsyncClient(base_url=house.url, timeout=120) as http:
            while not (
                ended := [
                    match.id
                    for match in await house.arena.store.matches(Wanted())
                    if match.status == "ended"
                ]
            ):
                await asyncio.sleep(0.05)
            return [
                await times_of(http, ended[0], *one) for one in zip(thinking, logins, strict=True)
            ]


async def times_of(
    http: httpx.AsyncClient, match_id: str, thinking: list[float], login: dict[str, Any]
) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {login['password']}"}
    for seat in (0, 1):
        answer = await http.get(f"/api/v1/matches/{match_id}/seats/{seat}/log", headers=headers)
        if answer.status_code == 200:
            break
    lines = [json.loads(line) for line in answer.text.splitlines()]
    moves = [line for line in lines if line.get("verdict") == "accepted"]
    return {"thinking": [int(seconds * 1000) for seconds in thinking], "moves": moves}


if __name__ == "__main__":
    print(json.dumps(run(main(Path(sys.argv[1])))), flush=True)
    os._exit(0)  # the threads wait for packets
