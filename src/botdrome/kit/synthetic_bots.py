"""SyntheticBot: plays on a server until it is cancelled, and comes back after every fault."""

import asyncio
import contextlib
import json
import sys
from collections import Counter
from random import Random
from typing import Any, Protocol

from msgspec import Struct
from websockets.exceptions import WebSocketException

from botdrome.bots.house import house_bots
from botdrome.client.boats_game import RandomFleets
from botdrome.client.join import JoinWish
from botdrome.client.protocol_clients import (
    BoatsStream,
    BomberClient,
    BotReply,
    ConnectionLost,
    DuelStream,
    HttpMessage,
    ServerLink,
    UrlBotClient,
    linked,
)
from botdrome.client.rest import RestServer, ServerProblem, segment, socket_url
from botdrome.games.bomberman import WORDS
from botdrome.games.chance import Chance
from botdrome.wire.boats.lines import offer_in
from botdrome.wire.conversation import VIEWS

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
        wish = JoinWish(bot.game, bot.name, bot.token, bot.contest)
        await link.send(wish.login((VIEWS,), self._match))
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


class HttpBot:
    """Plays like house:random."""

    def __init__(self, seed: int) -> None:
        self._chance = Chance(seed)

    async def visit(self, bot: Registered, faults: BotFaults) -> None:
        """Enter the contest with an address, then answer calls as long as the bot plays."""
        matches: set[str] = set()

        async def answer(call: HttpMessage) -> BotReply:
            message, match = json.loads(call.body), call.headers.get("x-botdrome-match", "")
            if "challenge" in message:
                return _said({"challenge": message["challenge"]})
            if match not in matches:
                matches.add(match)
                faults.begin_match()
            if message["state"].get("result") is not None:
                return _said({})
            try:
                await faults.before_move()
            except BotDropped:
                return BotReply(status=None)
            return _said(self._move(bot, message["state"]))

        with contextlib.suppress(ServerProblem):
            async with UrlBotClient(answer).serving() as called:
                await asyncio.to_thread(_enter, bot, f"{called.url}/")
                await asyncio.Event().wait()

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


def _said(value: Any) -> BotReply:
    return BotReply(json.dumps(value).encode())


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
        async with DuelStream.connected(bot.ports["duel"]) as stream:
            await stream.send({"username": bot.name, "password": bot.token} | FIND)
            while (message := await stream.receive()) is not None:
                await self._heed(message, stream, faults)

    async def _heed(self, message: dict[str, Any], stream: DuelStream, faults: BotFaults) -> None:
        if message.get("event") == "player_is_free":
            faults.begin_match()
            await stream.send(FIND)
        elif message.get("event") == "get_move":
            await faults.before_move()
            await stream.answer(message, *self._free(message["board"]))

    def _free(self, board: dict[str, Any]) -> tuple[int, int]:
        size, taken = board["_size"], {tuple(move) for move in board["_moves"]}
        rows = [(self._row + offset) % size for offset in range(size)]
        return next((x, y) for y in rows for x in range(size) if (x, y) not in taken)


# Synthetic bots on Xterm Boat Sinker's protocol: lines over TCP.


class BoatsBot:
    """Shoots at every square once, in random order."""

    def __init__(self, seed: int) -> None:
        self._random, self._chance = Random(seed), Chance(seed)

    async def visit(self, bot: Registered, faults: BotFaults) -> None:
        faults.begin_match()
        async with BoatsStream.connected(bot.ports["xbs"]) as stream:
            await self._play(stream, bot, faults)

    async def _play(self, stream: BoatsStream, bot: Registered, faults: BotFaults) -> None:
        target, squares, name = "", list[tuple[int, int]](), bot.name
        while line := await stream.receive():
            kind, *words = line.split("|")
            if kind == "G" and not squares:
                offer = offer_in([kind, *words])
                width, height = range(1, offer.width + 1), range(1, offer.height + 1)
                squares = [(x, y) for x in width for y in height]
                self._random.shuffle(squares)
                stream.send(f"J|{name}|{RandomFleets(offer).draw(self._chance)}|{bot.token}")
            elif kind == "S":
                target = words[(words.index(name) + 1) % len(words)]
            elif kind == "N" and words == [name] and squares:
                await faults.before_move()
                x, y = squares.pop()
                stream.send(f"S|{target}|{x}|{y}")


# Synthetic bots on the Bomberman API: HTTP requests.


class BomberBot:
    """Acts at random, once a round."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    async def visit(self, bot: Registered, faults: BotFaults) -> None:
        """Play one match."""
        client, number = BomberClient(bot.url), 0
        with contextlib.suppress(json.JSONDecodeError):
            user = (await client.register(bot.name, password=bot.token)).get("user_id")
            faults.begin_match()
            while user is not None:
                state = await client.state(user, number)
                phase = state.get("phase")
                if phase != "PLAYING" and (phase != "REGISTRATION" or number):
                    return
                number = state["state_number"]
                if phase == "PLAYING":
                    await faults.before_move()
                    await client.act(user, self._random.choice(WORDS), number)


# Bots of the organiser's own, which play by the command `botdrome join`.


class FileBot:
    def __init__(self, file: str) -> None:
        self._file = file

    async def visit(self, bot: Registered, faults: BotFaults) -> None:
        """Play until the command fails, or to the end of the contest.

        It has no faults but its own.
        """
        words = ["join", bot.game, self._file, "--server", bot.url]
        words += ["--name", bot.name, "--token", bot.token, "--contest", bot.contest]
        quiet = asyncio.subprocess.DEVNULL
        command = (sys.executable, "-m", "botdrome", *words)
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
