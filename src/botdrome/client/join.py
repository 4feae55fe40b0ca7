"""Join: lets a bot play on a server, match after match, and reconnects when the
connection is lost.
"""

import asyncio
import random
from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct
from websockets.exceptions import InvalidHandshake, InvalidURI

from botdrome.client.protocol_clients import ConnectionLost, ServerLink, linked
from botdrome.client.rest import connection_problem, socket_url
from botdrome.wire.battlebot.conversation import NOT_ASKED, PLAY_PATH
from botdrome.wire.battlebot.messages import game_type
from botdrome.wire.conversation import AGAIN
from botdrome.wire.framing.websocket import NORMAL, POLICY

PAUSES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0)
"""Seconds before each attempt to reconnect."""
PASSING = ("no opponent came within", NOT_ASKED)
"""The server's words at the end of a wait begin so. The bot may log in again at once."""
MOST_FAULTS = 3
"""Matches in a row in which a bot fails before it is taken off the server."""


class JoinWish(Struct, frozen=True):
    """What a bot wants to play."""

    game: str
    name: str
    token: str
    contest: str | None = None
    opponent: str | None = None
    players: int | None = None
    options: dict[str, Any] = {}
    pace: str | None = None
    """None: the usual one."""
    version: str = ""
    """The version of the bot; empty: it names none."""
    ladder: bool = False
    """It plays on the ladder."""

    def login(self, features: tuple[str, ...], match: str) -> dict[str, Any]:
        """Return the login; `match` is one to return to, or empty."""
        login = {
            "gameType": game_type(self.game),
            "name": self.name,
            "password": self.token,
            "features": [AGAIN, *features],
        }
        wanted = {
            "contest": self.contest,
            "opponent": self.opponent,
            "players": self.players,
            "options": self.options,
        }
        wanted |= {"pace": self.pace, "version": self.version, "match": match}
        wanted |= {"ladder": self.ladder}
        return login | {key: value for key, value in wanted.items() if value}


class Ending(Struct, frozen=True):
    """The end of a match, as the bot's player sees it."""

    places: tuple[int, ...]
    headline: str


class RemotePlayer(Protocol):
    """A bot in one match on a server."""

    features: tuple[str, ...]
    """What it needs beside `again`."""
    match: str
    """The id of the match; empty: it has not begun."""
    fault: str
    """Why the bot failed in this match; empty: it did not."""

    players: tuple[str, ...]
    """The names of all players in the match."""

    @property
    def log(self) -> str:
        """What the bot wrote for its author in this match, as far as it was kept.

        It is whole after `close`.
        """

    @property
    def ending(self) -> Ending | None:
        """None: the messages of the match do not tell it."""

    async def play(self, link: ServerLink) -> None:
        """Play until the result has come. After a lost connection this is called again."""

    async def close(self) -> None: ...


class JoinDisplay(Protocol):
    """Shows the user what happens."""

    def say(self, words: str) -> None: ...

    async def show_match(self, player: RemotePlayer) -> None:
        """The match is over, or the connection was lost and there was no return."""


class Unwelcome(Exception):
    """The server refuses the bot for good; the text says why."""


class KeepsFailing(Unwelcome):
    """The bot itself is to blame."""


class Join:
    def __init__(
        self,
        server: str,
        wish: JoinWish,
        make_player: Callable[[], RemotePlayer],
        display: JoinDisplay,
        games: int | None = None,
        pauses: tuple[float, ...] = PAUSES,
    ) -> None:
        """`games` is the number of matches to play; None: any number."""
        self._url = socket_url(server, PLAY_PATH)
        self._wish = wish
        self._make_player = make_player
        self._display = display
        self._left, self._pauses = games, pauses
        self._failures = self._faults = 0
        self._player: RemotePlayer | None = None
        self._last = False
        """Whether the current match is the last one, whatever `games` says."""

    @property
    def playing(self) -> bool:
        return self._player is not None and bool(self._player.match)

    def stop_after_match(self) -> None:
        self._last = True

    async def run(self) -> None:
        """Play until the contest is over or all games are played.

        Raise Unwelcome if the server refuses the bot for good.
        """
        try:
            while not self._enough:
                await self._connect()
        finally:
            if self._player is not None:
                await self._player.close()

    @property
    def _enough(self) -> bool:
        return self._left == 0 or (self._last and not self.playing)

    async def _connect(self) -> None:
        try:
            async with linked(self._url) as link:
                await self._log_in(link)
                await self._play_on(link)
        except ConnectionLost as lost:
            await self._think_over(lost)
        except (OSError, InvalidHandshake) as problem:
            await self._pause(f"not connected: {connection_problem(problem)}")
        except InvalidURI as problem:
            raise Unwelcome(str(problem)) from None

    async def _log_in(self, link: ServerLink) -> None:
        player = self._player = self._player or self._make_player()
        await link.send(self._wish.login(player.features, player.match))
        answer = (await link.take_one()).data
        if answer.get("authentication") != "OK":
            raise Unwelcome(
                answer.get("why") or f"the server does not know {self._wish.name} with this token"
            )
        self._failures = 0
        self._display.say(f"returned to match {player.match}" if player.match else self._waiting)

    @property
    def _waiting(self) -> str:
        wish = self._wish
        where = " on the ladder" if wish.ladder else ""
        where = f" in the contest {wish.contest}" if wish.contest else where
        return f"{wish.name} waits for {wish.opponent or 'an opponent'}{where}"

    async def _play_on(self, link: ServerLink) -> None:
        while True:
            assert self._player is not None
            await self._player.play(link)
            await self._match_over()
            if self._enough:
                return
            self._player = self._make_player()
            await link.send({"again": True})

    async def _match_over(self) -> None:
        player = self._player
        assert player is not None
        await player.close()  # if this is cancelled, `run` waits for it
        self._player = None
        await self._display.show_match(player)
        self._left = None if self._left is None else self._left - 1
        self._faults = self._faults + 1 if player.fault else 0
        if self._faults == MOST_FAULTS:
            raise KeepsFailing(f"the bot failed in {MOST_FAULTS} matches in a row")

    async def _think_over(self, lost: ConnectionLost) -> None:
        """Decide how to go on after the end of a connection."""
        words = str(lost)
        if lost.complete:
            self._left = 0
            self._display.say(f"the contest {self._wish.contest} is over for {self._wish.name}")
        elif lost.code == POLICY:
            raise Unwelcome(words)
        elif lost.code != NORMAL:
            await self._pause(words)
        elif self.playing:
            await self._match_over()  # there is no return to it
        elif not words.startswith(PASSING):
            raise Unwelcome(words)

    async def _pause(self, words: str) -> None:
        pause = self._pauses[min(self._failures, len(self._pauses) - 1)] * random.uniform(0.8, 1.2)
        self._failures += 1
        self._display.say(f"{words}; again in {pause:.1f} s")
        await asyncio.sleep(pause)
