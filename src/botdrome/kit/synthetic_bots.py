"""SyntheticBot: plays on a server until it is cancelled, and comes back after every fault."""

import asyncio
import contextlib
import json
import sys
from collections import Counter
from random import Random
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

from msgspec import Struct
from websockets.exceptions import WebSocketException

from botdrome.bots.house import house_bots
from botdrome.client.boats_game import RandomFleets
from botdrome.client.rest import RestServer, ServerProblem, segment, socket_url
from botdrome.client.server_link import ConnectionLost, ServerLink, linked
from botdrome.games.bomberman import WORDS
from botdrome.games.chance import Chance
from botdrome.wire.battlebot.messages import game_type
from botdrome.wire.boats.lines import offer_in
from botdrome.wire.conversation import AGAIN, VIEWS

# Faults of synthetic bots: slow moves, crashes and lost connections, drawn for each match.


class FaultRates(Struct, frozen=True):
    """The shares of matches in which a bot is slow, crashes or loses its connection."""

    slow: float = 0.0
    crash: float = 0.0
    drop: float = 0.0
    pause: float = 8.0
    """Seconds of a slow move."""


class BotDropped(Exception):
    """The connection of a bot is to be cut. `crashed`: the bot forgets its match."""

    def __init__(self, crashed: bool) -> None:
        super().__init__("crashed" if crashed else "lost its connection")
        self.crashed = crashed


class BotFaults:
    """The faults of one bot. `counts` is shared by all bots."""

    def __init__(self, rates: FaultRates, random: Random, counts: Counter[str]) -> None:
        self._rates, self._random, self._counts = rates, random, counts
        self._kind, self._moves = "", 0

    def begin_match(self) -> None:
        rates, drawn = self._rates, self._random.random()
        self._moves = self._random.randint(1, 3)
        kinds = (("slow", rates.slow), ("crash", rates.crash), ("drop", rates.drop))
        self._kind = ""
        for kind, share in kinds:
            if 0 <= drawn < share:
                self._kind = kind
            drawn -= share

    async def before_move(self) -> None:
        """Be slow, or raise BotDropped, if it is time for this match's fault."""
        self._moves -= 1
        if self._moves or not self._kind:
            return
        kind, self._kind = self._kind, ""
        self._counts[kind] += 1
        if kind == "slow":
            await asyncio.sleep(self._rates.pause)
        else:
            raise BotDropped(kind == "crash")


PAUSE = 0.3
"""Seconds before a bot that lost its connection comes back."""


class Registered(Struct, frozen=True):
    """A bot of the rehearsal, and the server on which it plays."""

    url: str
    ports: dict[str, int]
    game: str
    contest: str
    name: str
    token: str


class SyntheticBot(Protocol):
    async def visit(self, bot: Registered, faults: BotFaults) -> None:
        """Connect and play until the connection ends."""


async def keep_playing(visitor: SyntheticBot, bot: Registered, faults: BotFaults) -> None:
    while True:
        with contextlib.suppress(OSError, EOFError, BotDropped, asyncio.IncompleteReadError):
            await visitor.visit(bot, faults)
        await asyncio.sleep(PAUSE)


# HTTP with JSON bodies over asyncio's streams, as much as synthetic bots need.


async def ask(url: str, body: Any = None) -> dict[str, Any]:
    """Return the answer to GET, or to POST if there is a body, whatever its status."""
    parts, data = urlsplit(url), b"" if body is None else json.dumps(body).encode()
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        head = (
            f"{'GET' if body is None else 'POST'} {target} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
            "Connection: close\r\n"
        )
        head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        writer.write(head.encode() + data)
        await writer.drain()
        _, answer = await read_message(reader)
        return dict(json.loads(answer))
    finally:
        writer.close()


async def read_message(reader: asyncio.StreamReader) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of a request or an answer."""
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[1:]
    headers = {
        name.lower(): value.strip()
        for name, _, value in (line.partition(":") for line in lines if line)
    }
    return headers, await reader.readexactly(int(headers.get("content-length", 0)))


async def serve_answers(answer: Any) -> asyncio.Server:
    """Listen on a free port, and answer each request with `await answer(headers, message)`."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                headers, body = await read_message(reader)
                data = json.dumps(await answer(headers, json.loads(body))).encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
                    b"\r\n" % len(data) + data
                )
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, BotDropped):
            pass
        finally:
            writer.close()

    return await asyncio.start_server(serve, "127.0.0.1", 0)


# Synthetic bots on Battlebot's protocol: WebSockets.


class NativeBot:
    """Plays like house:random. After a lost connection it returns to its match."""

    def __init__(self, seed: int) -> None:
        self._chance, self._match = Chance(seed), ""

    async def visit(self, bot: Registered, faults: BotFaults) -> None:
        try:
            async with linked(socket_url(bot.url)) as link:
                await self._play(link, bot, faults)
        except ConnectionLost as lost:
            self._match = self._match if lost.code not in (1000, 1008) else ""
        except BotDropped as dropped:
            self._match = "" if dropped.crashed else self._match
        except WebSocketException:
            return

    async def _play(self, link: ServerLink, bot: Registered, faults: BotFaults) -> None:
        login: dict[str, Any] = {
            "gameType": game_type(bot.game),
            "name": bot.name,
            "password": bot.token,
        }
        login |= {"features": [AGAIN, VIEWS], "contest": bot.contest}
        await link.send(login | ({"match": self._match} if self._match else {}))
        await link.take_one()
        while True:
            await self._heed((await link.take_one()).data, link, bot, faults)

    async def _heed(
        self, frame: dict[str, Any], link: ServerLink, bot: Registered, faults: BotFaults
    ) -> None:
        if "snapshot" in frame and frame["match"] != self._match:
            self._match = frame["match"]
            faults.begin_match()
        view = frame.get("view") or {}
        if frame.get("event", {}).get("event") == "ended":
            self._match = ""
            await link.send({"again": True})
        elif "timeLeft" in frame and view["you"] in view["toMove"]:
            await faults.before_move()
            await link.send({"move": house_bots(bot.game)["random"](view, self._chance)})


# Synthetic bots that the server calls at their URLs.


class UrlBot:
    """Plays like house:random."""

    def __init__(self, seed: int) -> None:
        self._chance = Chance(seed)
        self._server: asyncio.Server | None = None

    async def visit(self, bot: Registered, faults: BotFaults) -> None:
        """Enter the contest with an address, then answer calls as long as the bot plays."""
        matches: set[str] = set()

        async def answer(headers: dict[str, str], message: dict[str, Any]) -> Any:
            if "challenge" in message:
                return {"challenge": message["challenge"]}
            match = headers.get("x-botdrome-match", "")
            if match not in matches:
                matches.add(match)
                faults.begin_match()
            if message["state"].get("result") is not None:
                return {}
            await faults.before_move()
            return self._move(bot, message["state"])

        server = await serve_answers(answer)
        port = server.sockets[0].getsockname()[1]
        try:
            async with server:
                await asyncio.to_thread(_enter, bot, f"http://127.0.0.1:{port}/")
                await server.serve_forever()
        except ServerProblem:
            return
        finally:
            server.close()

    def _move(self, bot: Registered, state: dict[str, Any]) -> Any:
        if "marks" in state:
            mark = "X" if state["marks"]["X"] == bot.name else "O"
            free = [
                [row, column]
                for row in range(3)
                for column in range(3)
                if not state["board"][row][column]
            ]
            return {"mark": mark, "space": self._chance.choice(free)}
        return house_bots(bot.game)["random"](state, self._chance)


def _enter(bot: Registered, url: str) -> None:
    rest = RestServer(bot.url)
    rest.get(f"bots/{segment(bot.name)}", bot.token, {"url": url}, "PUT")
    rest.get(f"contests/{segment(bot.game)}/{segment(bot.contest)}", bot.token, {"bot": bot.name})


# Synthetic bots on duel arena's protocol: framed JSON over TCP.

FIND = {"event": "find_opponent"}


class DuelBot:
    """Fills its own row, so that boards are short."""

    def __init__(self, seed: int) -> None:
        self._row = seed

    async def visit(self, bot: Registered, faults: BotFaults) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", bot.ports["duel"])
        try:
            await _send(writer, {"username": bot.name, "password": bot.token} | FIND)
            while True:
                length = int.from_bytes(await reader.readexactly(4), "big")
                await self._heed(json.loads(await reader.readexactly(length)), writer, faults)
        finally:
            writer.close()

    async def _heed(
        self, message: dict[str, Any], writer: asyncio.StreamWriter, faults: BotFaults
    ) -> None:
        if message.get("event") == "player_is_free":
            faults.begin_match()
            await _send(writer, FIND)
        elif message.get("event") == "get_move":
            await faults.before_move()
            x, y = self._free(message["board"])
            await _send(writer, {"event": "make_move", "id": message["id"], "x": x, "y": y})

    def _free(self, board: dict[str, Any]) -> tuple[int, int]:
        size, taken = board["_size"], {tuple(move) for move in board["_moves"]}
        rows = [(self._row + offset) % size for offset in range(size)]
        return next((x, y) for y in rows for x in range(size) if (x, y) not in taken)


async def _send(writer: asyncio.StreamWriter, message: dict[str, Any]) -> None:
    body = json.dumps(message).encode()
    writer.write(len(body).to_bytes(4, "big") + body)
    await writer.drain()


# Synthetic bots on Xterm Boat Sinker's protocol: lines over TCP.


class BoatsBot:
    """Shoots at every square once, in random order."""

    def __init__(self, seed: int) -> None:
        self._random, self._chance = Random(seed), Chance(seed)

    async def visit(self, bot: Registered, faults: BotFaults) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", bot.ports["xbs"])
        faults.begin_match()
        try:
            await self._play(reader, writer, bot, faults)
        finally:
            writer.close()

    async def _play(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        bot: Registered,
        faults: BotFaults,
    ) -> None:
        target, squares, name = "", list[tuple[int, int]](), bot.name
        while line := (await reader.readline()).decode("latin-1").rstrip("\n"):
            kind, *words = line.split("|")
            if kind == "G" and not squares:
                offer = offer_in([kind, *words])
                squares = [
                    (x, y) for x in range(1, offer.width + 1) for y in range(1, offer.height + 1)
                ]
                self._random.shuffle(squares)
                writer.write(
                    f"J|{name}|{RandomFleets(offer).draw(self._chance)}|{bot.token}\n".encode(
                        "latin-1"
                    )
                )
            elif kind == "S":
                target = words[(words.index(name) + 1) % len(words)]
            elif kind == "N" and words == [name] and squares:
                await faults.before_move()
                x, y = squares.pop()
                writer.write(f"S|{target}|{x}|{y}\n".encode("latin-1"))
            await writer.drain()


# Synthetic bots on the Bomberman API: HTTP requests.


class BomberBot:
    """Acts at random, once a round."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    async def visit(self, bot: Registered, faults: BotFaults) -> None:
        """Play one match."""
        base = f"{bot.url}/bomber/rest"
        try:
            answer = await ask(base, {"user_name": bot.name, "password": bot.token})
            number, user = 0, answer.get("user_id")
            faults.begin_match()
            while user is not None:
                state = await ask(f"{base}/state/{quote(str(user))}?after={number}")
                if state.get("phase") not in ("REGISTRATION", "PLAYING") or (
                    state["phase"] == "REGISTRATION" and number
                ):
                    return
                number = state["state_number"]
                if state["phase"] == "PLAYING":
                    await faults.before_move()
                    await ask(
                        base,
                        {
                            "user_id": user,
                            "action": self._random.choice(WORDS),
                            "state_number": number,
                        },
                    )
        except json.JSONDecodeError:
            return


# Bots of the organiser's own, which play by the command `botdrome join`.


class FileBot:
    def __init__(self, file: str) -> None:
        self._file = file

    async def visit(self, bot: Registered, faults: BotFaults) -> None:
        """Play until the command fails, or to the end of the contest.

        It has no faults but its own.
        """
        words = (
            "join",
            bot.game,
            self._file,
            "--server",
            bot.url,
            "--name",
            bot.name,
            "--token",
            bot.token,
        )
        quiet = asyncio.subprocess.DEVNULL
        command = (sys.executable, "-m", "botdrome", *words, "--contest", bot.contest)
        process = await asyncio.create_subprocess_exec(
            *command, stdin=quiet, stdout=quiet, stderr=quiet
        )
        try:
            if await process.wait() == 0:
                await asyncio.Event().wait()  # the contest is over for it
        finally:
            if process.returncode is None:
                process.terminate()
                await process.wait()
