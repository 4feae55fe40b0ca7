"""`botdrome connect`: a bot on this machine, called by a server that cannot reach it."""

import asyncio
import signal
from contextlib import suppress

from botdrome.cli.problems import REFUSED, complain
from botdrome.cli.terminal import Terminal
from botdrome.client.connect import Tunnel, Unwanted


def run(name: str, token: str, server: str, local: str) -> int:
    console = Terminal(stderr=True)
    try:
        tunnel = Tunnel(server, local, name, token, lambda words: console.print(words, soft_wrap=True))
    except ValueError as problem:
        complain(problem)
        return REFUSED
    try:
        asyncio.run(_until_stopped(tunnel))
    except Unwanted as problem:
        complain(problem)
        return 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        pass
    return 0


async def _until_stopped(tunnel: Tunnel) -> None:
    task = asyncio.current_task()
    assert task is not None
    with suppress(NotImplementedError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await tunnel.run()
