"""The client's end of a tunnel (`botdrome connect`): passes a server's calls to a bot on this
machine.
"""

import asyncio
import http.client
import json
import random
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from botdrome.client.rest import connection_problem, socket_url

AT_ONCE = 32
"""Calls that the bot gets at the same time; further calls wait."""
PAUSES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
"""Seconds before each attempt to reconnect."""
TAKEN_OVER = 4001
"""The close code of a connection that another one has replaced."""
POLICY = 1008
SPARE = 100
"""Bytes of a message beside the answer's body."""

Say = Callable[[str], None]


class Unwanted(Exception):
    """The server refuses this connection for good; the text is the server's."""


class TunnelClient:
    def __init__(self, server: str, local: str, name: str, token: str, say: Say) -> None:
        """`say` shows progress to the user."""
        self._url = socket_url(server, "/connect")
        self._local = local
        self._name = name
        self._token = token
        self._say = say
        if urlsplit(local).scheme not in ("http", "https"):
            raise ValueError(f"{local} is not the address of a bot")
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self._threads = ThreadPoolExecutor(AT_ONCE)
        self._calls: set[asyncio.Task[None]] = set()
        self._longest = 65536

    async def run(self, pauses: tuple[float, ...] = PAUSES) -> None:
        """Run forever, and reconnect when the connection is lost; Unwanted if the server refuses it
        for good.
        """
        failures = 0
        while True:
            try:
                async with connect(self._url, max_size=None) as socket:
                    await self._log_in(socket)
                    failures = 0
                    await self._carry(socket)
            except (OSError, InvalidHandshake, ConnectionClosed) as problem:
                pause = pauses[min(failures, len(pauses) - 1)] * random.uniform(0.8, 1.2)
                failures += 1
                self._say(f"not connected: {connection_problem(problem)}; again in {pause:.1f} s")
                await asyncio.sleep(pause)
            except InvalidURI as problem:
                raise Unwanted(str(problem)) from None

    async def _log_in(self, socket: ClientConnection) -> None:
        await socket.send(json.dumps({"name": self._name, "password": self._token}))
        answer = json.loads(await socket.recv())
        if "error" in answer:
            raise Unwanted(answer["error"])
        self._longest = answer["longest"]
        self._say(f"connected: calls for {self._name} go to {self._local}")

    async def _carry(self, socket: ClientConnection) -> None:
        try:
            while True:
                message = json.loads(await socket.recv())
                if "call" in message:
                    task = asyncio.ensure_future(self._call(socket, message))
                    self._calls.add(task)
                    task.add_done_callback(self._calls.discard)
        except ConnectionClosed:
            if socket.close_code in (TAKEN_OVER, POLICY):
                raise Unwanted(socket.close_reason or "the server closed the connection") from None
            raise

    async def _call(self, socket: ClientConnection, message: dict[str, Any]) -> None:
        outcome = await asyncio.get_running_loop().run_in_executor(
            self._threads, self._ask, message
        )
        try:
            await socket.send(self._fitting({"call": message["call"]} | outcome))
        except ConnectionClosed:
            return

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """The bot's answer, or the reason why there is none."""
        headers = {"Content-Type": "application/json"} | message["headers"]
        request = urllib.request.Request(
            self._local, message["body"].encode(), headers, method="POST"
        )
        try:
            with self._opener.open(request, timeout=message["limit"]) as answer:
                return {"status": answer.status, "body": answer.read(self._longest + 1).decode()}
        except urllib.error.HTTPError as answer:
            with answer:
                return {
                    "status": answer.code,
                    "body": answer.read(self._longest + 1).decode(errors="replace"),
                }
        except UnicodeDecodeError:
            return {"failed": "the answer is not UTF-8"}
        except (OSError, ValueError, http.client.HTTPException) as problem:
            return {"failed": f"{self._local}: {getattr(problem, 'reason', problem)}"}

    def _fitting(self, message: dict[str, Any]) -> str:
        text = json.dumps(message)
        if len(text) > self._longest:
            text = json.dumps(
                {
                    "call": message["call"],
                    "failed": f"the answer is larger than {self._longest - SPARE} bytes",
                }
            )
        return text
