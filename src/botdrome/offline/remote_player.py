"""Bots in matches on a server: the seats of the offline runner, driven by the messages of the
native protocol.
"""

import asyncio
import json
import secrets
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from selectors import EVENT_READ
from threading import Lock
from typing import IO, Any, TypeVar

import msgspec

from botdrome.bots.house import HOUSE
from botdrome.catalogue import CATALOGUE, CatalogueEntry, restored
from botdrome.client.join import Ending, Join, JoinWish, RemotePlayer, Unwelcome
from botdrome.client.protocol_clients import ConnectionLost, ServerLink, ServerMessage
from botdrome.client.rest import RestServer, ServerProblem
from botdrome.games.game import BadOption
from botdrome.games.options import with_options
from botdrome.games.reading import TooManyValues, bounded
from botdrome.match.events import (
    AnyEvent,
    Began,
    Ended,
    Event,
    Late,
    Out,
    Played,
    Refused,
    Result,
    Returned,
)
from botdrome.match.headline import Headlines, headlines_of
from botdrome.match.record import BadRecord
from botdrome.offline.entrants import bot_version
from botdrome.offline.isolation import ISOLATED, START, BotFault, Isolation
from botdrome.offline.library import MatchResult
from botdrome.offline.seats import FunctionSeat, ProcessSeat, ProgramSeat, check_bot, make_seat
from botdrome.offline.table import BEYOND, SEED_SIZE, UNLIMITED, beginning, ending
from botdrome.wire.battlebot.messages import reason_of
from botdrome.wire.conversation import EXTRAS, FRAMES, NOTICES, VIEWS

LONGEST_MESSAGE = 60_000
"""Bytes of a move: a server cuts off a client that sends more than 65,536, unless it is set up
otherwise.
"""

# FramePlayer: the state that all players with frames in a match on a server share.


class FramePlayer:
    features: tuple[str, ...] = (FRAMES,)

    def __init__(self, name: str) -> None:
        self._name = name
        self._headlines = Headlines()
        self.match = self.fault = self.log = ""
        self.players: tuple[str, ...] = ()
        self.result: Result | None = None
        self.out = self._awaited = False
        """Whether the player is out of this board, and whether the server waits for its move."""

    @property
    def you(self) -> int:
        return self.players.index(self._name)

    @property
    def ending(self) -> Ending | None:
        return (
            None
            if self.result is None
            else Ending(self.result.places, self._headlines.of(self.you))
        )

    def _see(self, frame: dict[str, Any]) -> None:
        if "snapshot" in frame:
            self.match, self.players = frame["match"], tuple(frame["players"])
        elif "event" in frame:
            self._note(msgspec.convert(frame["event"], AnyEvent, str_keys=True))

    def _note(self, event: Event) -> None:
        self._headlines.add(event)
        match event:
            case Began():
                self._awaited, self.out = True, False
            case Played() | Refused():
                self._awaited = True
            case Returned() if event.player == self.you:
                self._awaited = True
            case Out() if event.player == self.you:
                self.out = True
            case Ended():
                self.result = event.result


# FunctionPlayer: a bot that is a function or a class, in a match on a server.

T = TypeVar("T")


class FunctionPlayer(FramePlayer):
    """Frames bring its views.

    It sees each position once, and again after a refused move, as offline.
    """

    def __init__(
        self,
        seat: FunctionSeat | ProcessSeat,
        row: CatalogueEntry,
        name: str,
        options: dict[str, Any],
        threads: ThreadPoolExecutor | None = None,
    ) -> None:
        """With `threads`, which it shares with others, it waits for one that is free."""
        super().__init__(name)
        self._seat, self._row, self._options = seat, row, options
        if not self._reads_legal_moves:
            self.features = (VIEWS,)
        self._own_thread = threads is None
        self._threads = threads or ThreadPoolExecutor(1)
        """The bot thinks in a thread, so that the connection stays alive."""
        self._thinking = Lock()
        """Held by the call that runs: one whose match is cancelled runs on."""
        self._begun = False
        self._answers = 0
        """In this step."""
        self._frame: dict[str, Any] = {}
        """The frame to answer; empty: none."""

    async def play(self, link: ServerLink) -> None:
        while self.result is None:
            for message in await link.take():
                self._see(message.data)
            if self.players and not self._begun:
                self._begun = True
                await self._ask_bot(link, partial(self._seat.begin, self._about(), START))
            if self._frame and not self.fault:
                await self._answer(link)
        about = ending(self.result, self.you)
        await self._ask_bot(None, partial(self._seat.end, about, BEYOND))

    async def close(self) -> None:
        # A cancelled call that waits for its thread would not run, and the process would stay.
        await asyncio.shield(self._in_thread(self._seat.close))
        self.log = self._seat.log
        if self._own_thread:
            self._threads.shutdown(wait=False)

    # Frames.

    def _see(self, frame: dict[str, Any]) -> None:
        super()._see(frame)
        if "event" in frame:
            view = frame["view"]
            asked = "timeLeft" in frame and view["you"] in view["toMove"]
            self._frame = frame if asked and self._awaited and not self.out else {}

    def _note(self, event: Event) -> None:
        super()._note(event)
        if isinstance(event, Began | Played):
            self._answers = 0
        elif isinstance(event, Refused):
            self._awaited = self._answers < self._seat.tries

    # The bot.

    @property
    def _reads_legal_moves(self) -> bool:
        """True for the random bot that plays any game without bots of its own."""
        return self._seat.trusted and self._row.name not in HOUSE

    async def _answer(self, link: ServerLink) -> None:
        frame, self._frame, self._awaited = self._frame, {}, False
        self._answers += 1
        view, limit = frame["view"], self._row.terms.pace.limit
        if self._reads_legal_moves:
            view |= {"legal": frame.get("legal", [])}
        seconds = UNLIMITED if limit is None else limit / 1000
        message = await self._ask_bot(link, partial(self._message, view, seconds + BEYOND))
        if message is not None:
            await link.send(message)

    def _message(self, view: dict[str, Any], limit: float) -> str:
        move, _ = self._seat.ask(view, limit)
        return checked(json.dumps({"move": move}))

    def _about(self) -> dict[str, Any]:
        game, limit = with_options(self._row.game, self._options), self._row.terms.pace.limit
        return beginning(game, self.players, self.you, self._seat.seed, limit)

    async def _ask_bot(self, link: ServerLink | None, call: Callable[[], T]) -> T | None:
        """Return what the bot answers.

        If it fails, it resigns; None for the link: the match is over.
        """
        try:
            return await self._in_thread(call)
        except BotFault as fault:
            self.fault = self.fault or (
                str(fault) if link else f"after the match, in `end`: {fault}"
            )
        if link is not None:
            await link.send({"resign": reason_of(self.fault)})
        return None

    def _in_thread(self, call: Callable[[], T]) -> "asyncio.Future[T]":
        def alone() -> T:
            with self._thinking:
                return call()

        return asyncio.get_running_loop().run_in_executor(self._threads, alone)


def checked(message: str) -> str:
    """Raise BotFault for a message at which a server would cut off the client: the bot has failed,
    and not the connection.
    """
    size = len(message.encode())
    if size > LONGEST_MESSAGE:
        raise BotFault("unreadable", f"a move of {size} bytes; at most {LONGEST_MESSAGE} are sent")
    try:
        bounded(message.encode())
    except TooManyValues as problem:
        raise BotFault("unreadable", f"a move that no server reads: {problem}") from None
    return message


# ProgramPlayer: a bot that is a program, in a match on a server.
#
# Messages pass unchanged in both directions.


class ProgramPlayer:
    features: tuple[str, ...] = (NOTICES, EXTRAS)

    def __init__(self, seat: ProgramSeat) -> None:
        self._seat = seat
        self._over = False
        self._lines: list[bytes] = []
        """Lines of the program that came before the match began."""
        self.match = self.fault = ""
        self.players: tuple[str, ...] = ()

    @property
    def log(self) -> str:
        return self._seat.log

    @property
    def ending(self) -> None:
        """Battlebot's messages do not tell it in full."""

    async def play(self, link: ServerLink) -> None:
        pipes = WatchedPipes(link)
        try:
            while not self._over:
                if not self.fault:
                    self._seat.program.watched_by(pipes)
                messages = await link.take()
                pipes.clear()
                for message in messages:
                    self._hear(message)
                if not self.fault and not self._over:
                    await self._speak(link)
        finally:
            pipes.clear()

    async def close(self) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.shield(loop.run_in_executor(None, self._seat.close))

    def _hear(self, message: ServerMessage) -> None:
        data = message.data
        if "match" in data:
            self.match, self.players = data["match"], tuple(data["players"])
            return
        self._over = bool(data.get("state", data).get("result"))
        if not self.fault:
            self._seat.program.send([message.raw.encode()])

    async def _speak(self, link: ServerLink) -> None:
        """Pass the program's lines on to the server, as soon as the match has begun.

        A program that fails resigns.
        """
        self._lines += self._seat.lines()
        if not self.match:
            return
        lines, self._lines = self._lines, []
        try:
            for line in lines if not self._seat.program.flooding else ():
                if self._seat.moves_in(line):  # a server would cut off a client without JSON
                    await link.send(checked(line.decode()))
            if self._seat.failed:
                raise await asyncio.to_thread(self._seat.fault)
        except BotFault as fault:
            self.fault = str(fault)
            await self.close()
            await link.send({"resign": reason_of(self.fault)})


class WatchedPipes:
    """The pipes of a program, registered at the event loop as at a selector.

    Each event wakes the link.
    """

    def __init__(self, link: ServerLink) -> None:
        self._link, self._loop = link, asyncio.get_running_loop()
        self._watched: list[tuple[IO[bytes], int]] = []

    def register(self, pipe: IO[bytes], event: int) -> None:
        watch = self._loop.add_reader if event == EVENT_READ else self._loop.add_writer
        watch(pipe, self._link.wake)
        self._watched.append((pipe, event))

    def clear(self) -> None:
        for pipe, event in self._watched:
            (self._loop.remove_reader if event == EVENT_READ else self._loop.remove_writer)(pipe)
        self._watched.clear()


def remote_player(
    entrant: str,
    row: CatalogueEntry,
    name: str,
    options: dict[str, Any],
    isolation: Isolation = ISOLATED,
    threads: ThreadPoolExecutor | None = None,
) -> FunctionPlayer | ProgramPlayer:
    """Make a bot for one match on a server, under this name; `threads`: as for FunctionPlayer."""
    seat = make_seat(entrant, row.name, name, secrets.randbelow(SEED_SIZE), isolation)
    return (
        ProgramPlayer(seat)
        if isinstance(seat, ProgramSeat)
        else FunctionPlayer(seat, row, name, options, threads)
    )


# The public Python API: a client for servers.


def connect(server: str) -> "ServerClient":
    """Return a client of a server, such as http://127.0.0.1:3000.

    Raise ServerProblem if this is not an address.
    """
    try:
        return ServerClient(RestServer(server))
    except ValueError as problem:
        raise ServerProblem(str(problem)) from None


class ServerClient:
    """A server.

    All methods raise ServerProblem if it refuses something or cannot be reached. Get one from
    `botdrome.connect`.
    """

    def __init__(self, rest: RestServer) -> None:
        self._rest = rest

    @property
    def url(self) -> str:
        return self._rest.url

    def register(self, game: str, name: str, owner: str = "") -> str:
        """Register a bot, and return its token. The server shows it only once."""
        return self._rest.register(game, name, owner)

    def play(
        self, bot: Any, game: str, name: str, token: str, *, games: int = 1,
        opponent: str | None = None, contest: str | None = None, players: int | None = None,
        version: str | None = None, **options: Any,
    ) -> list[MatchResult]:  # fmt: skip
        """Let a bot play matches, as `botdrome join` does, and return those that the server has
        stored.

        `bot` is one of `botdrome.play`, and the options are those of the game. In a contest it
        plays until the contest is over. `version` is that of the bot; by default the checksum of
        its file, if it is given as text.
        """
        if game not in CATALOGUE:
            raise BadOption(f"there is no game {game!r}; there are {', '.join(CATALOGUE)}")
        with_options(CATALOGUE[game].game, options)
        if isinstance(bot, str):
            check_bot(bot, game)
        if version is None:
            version = bot_version(bot) if isinstance(bot, str) else ""
        wish = JoinWish(game, name, token, contest, opponent, players, options, version=version)
        played = PlayedMatches()
        join = Join(
            self.url,
            wish,
            lambda: _player(bot, game, name, options),
            played,
            None if contest else games,
        )
        try:
            asyncio.run(join.run())
        except Unwelcome as problem:
            raise ServerProblem(str(problem)) from None
        return [self.match(match) for match in played.matches]

    def match(self, match: str) -> MatchResult:
        """Return the result of a match that is over, by its id."""
        data = self._rest.match_file(match)
        try:
            record, game = restored(data)
            reasons = headlines_of(record, game)
        except BadRecord as problem:
            raise ServerProblem(f"match {match}: {problem}") from None
        setup, result = record.setup, record.result
        if result is None:
            raise ServerProblem(f"match {match} is not over")
        seed = int(setup.seed, 16) if isinstance(setup.seed, str) else setup.seed
        return MatchResult(
            setup.game,
            seed,
            setup.names,
            result.places,
            result.scores,
            result.causes,
            reasons,
            data,
        )


class PlayedMatches:
    """Keeps the ids of the matches that a bot has played."""

    def __init__(self) -> None:
        self.matches: list[str] = []

    def say(self, words: str) -> None:
        """What happens between matches is not shown."""

    async def show_match(self, player: RemotePlayer) -> None:
        self.matches.append(player.match)


def _player(bot: Any, game: str, name: str, options: dict[str, Any]) -> RemotePlayer:
    if isinstance(bot, str):
        return remote_player(bot, CATALOGUE[game], name, options)
    seat = FunctionSeat(bot, trusted=False, seed=secrets.randbelow(SEED_SIZE))
    return FunctionPlayer(seat, CATALOGUE[game], name, options)


# ToolPlayer: a player in a match on a server that looks and moves when it likes, such as a
# language model with tools.

MOST_EVENTS = 200
"""Events that are kept between two looks; older ones are dropped."""


class CannotAct(Exception):
    """The player cannot do this at present; the text says why."""


class ToolPlayer(FramePlayer):
    """Keeps the last frame of the match and the events since the last look."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._link: ServerLink | None = None
        self._changed = asyncio.Event()
        self._seats: tuple[str, ...] = ()
        """The names by seat."""
        self._frame: dict[str, Any] = {}
        self._deadline: float | None = None
        self._pings = self._pong = 0
        self._refusal = ""
        self._events: deque[dict[str, Any]] = deque(maxlen=MOST_EVENTS)
        self._event_count = 0

    async def play(self, link: ServerLink) -> None:
        self._link = link
        try:
            while self.result is None:
                for message in await link.take():
                    self._see(message.data)
                self.notify()
        finally:
            self._link = None
            self.notify()

    async def close(self) -> None:
        pass

    # Waiting.

    def notify(self) -> None:
        """Let `until` look again."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def until(self, done: Callable[[], bool]) -> None:
        while not done():
            await self._changed.wait()

    # What the player sees.

    @property
    def to_act(self) -> bool:
        """Whether the server waits for this player's move."""
        if "timeLeft" not in self._frame or self.out or not self._awaited:
            return False  # the last frame of a step has the time
        view = self._frame["view"]
        return view["you"] in view["toMove"]

    @property
    def to_move(self) -> list[str]:
        return [self._seats[seat] for seat in self._frame["view"]["toMove"]]

    @property
    def view(self) -> dict[str, Any]:
        return dict(self._frame["view"])

    @property
    def legal(self) -> list[Any] | None:
        """The legal moves; None: the server does not list them."""
        return self._frame.get("legal")

    @property
    def seconds_left(self) -> float | None:
        """None: there is no limit."""
        return (
            None
            if self._deadline is None
            else round(max(0.0, self._deadline - asyncio.get_running_loop().time()), 1)
        )

    def take_events(self) -> tuple[list[dict[str, Any]], int]:
        """Return the events since the last call, and the number of older ones that were dropped."""
        events, dropped = list(self._events), self._event_count - len(self._events)
        self._events.clear()
        self._event_count = 0
        return events, dropped

    # What the player does.

    async def submit(self, move: Any) -> str:
        """Send a move, and return why the server refuses it; empty: it is accepted.

        Raise CannotAct if it cannot be sent.
        """
        if not self.to_act:
            raise CannotAct(
                "you are out"
                if self.out
                else f"it is not your turn; the match waits for {', '.join(self.to_move)}"
            )
        self._awaited, self._refusal = False, ""
        self._pings += 1
        ping = self._pings
        link = await self._send({"move": move}, {"ping": ping})
        await self.until(lambda: self._pong == ping or self._link is not link)
        if self._pong != ping and not self._refusal and self.result is None:
            raise CannotAct("the connection was lost before the server answered")
        return self._refusal

    async def resign(self) -> None:
        """Leave the match, and wait for its end or the end of the connection."""
        link = await self._send({"resign": True})
        await self.until(lambda: self.out or self.result is not None or self._link is not link)

    async def _send(self, *messages: Any) -> ServerLink:
        link = self._link
        if link is None:
            raise CannotAct("there is no connection to the server at present")
        try:
            for message in messages:
                await link.send(message)
        except ConnectionLost as lost:
            raise CannotAct(str(lost)) from None
        return link

    # Frames.

    def _see(self, frame: dict[str, Any]) -> None:
        super()._see(frame)
        if "pong" in frame:
            self._pong = frame["pong"]
        elif "snapshot" in frame:
            self._frame, self._seats = frame, tuple(frame["bots"])
        elif "event" in frame:
            self._frame = frame
            self._events.append(frame["event"])
            self._event_count += 1
            if "timeLeft" in frame:
                left = frame["timeLeft"]
                now = asyncio.get_running_loop().time()
                self._deadline = None if left is None else now + left / 1000

    def _note(self, event: Event) -> None:
        super()._note(event)
        match event:
            case Began():
                self._seats = tuple(self.players[player] for player in event.order)
            case Refused():
                self._refusal = event.why
            case Late():
                self._refusal = f"the move came {event.by} ms too late"
