"""The doctor's own server, with an opponent for the bot, and the tables at which the bot sits."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from tempfile import TemporaryDirectory
from typing import Any

from botdrome.app import RunningServer, open_server
from botdrome.bots.house import house_bots
from botdrome.catalogue import CATALOGUE
from botdrome.client.join import Join, JoinWish, RemotePlayer, Unwelcome
from botdrome.doctor.ailments import PATIENT, ProtocolName
from botdrome.match.events import Player
from botdrome.protocols import load_settings, protocol_sections
from botdrome.runner.remote_player import remote_player
from botdrome.server.operator.cube_runs import CubeRun
from botdrome.server.rooms.cube_host import CubeHost
from botdrome.server.tables.table import Table

TURN = 5.0
"""Seconds for a move in boat games and Bomberman."""
BOMBER_ROOM = (
    f"default:players=2,least=2,registration=3600,round={round(TURN * 1000)},rest=0,early=1"
)


class NoDisplay:
    """Shows nothing of the opponent."""

    def say(self, words: str) -> None: ...

    async def show_match(self, player: RemotePlayer) -> None: ...


class DoctorServer:
    def __init__(self, server: RunningServer, protocol: ProtocolName, game: str) -> None:
        self._server, self.protocol, self.game = server, protocol, game
        self.name = PATIENT
        """The name of the bot in this trial."""
        self._tokens: dict[str, str] = {}

    async def token(self, name: str) -> str:
        """Return the password of a bot, which is registered at the first call."""
        if name not in self._tokens:
            _, self._tokens[name] = await self._server.arena.register(self.game, name, "doctor")
        return self._tokens[name]

    async def password(self) -> str:
        """Return the bot's password.

        Only Battlebot needs a registration; elsewhere any word protects the name.
        """
        return await self.token(self.name) if self.protocol == "battlebot" else "secret-of-the-bot"

    @property
    def port(self) -> int:
        return self._server.ports[{"duel": "duel", "boats": "xbs"}.get(self.protocol, "http")]

    @property
    def tables(self) -> list[Table]:
        """The tables at which the bot plays."""
        running = self._server.desk.tables
        found = [running[one.id] for one in running.live()]
        return [table for table in found if table is not None and self.player(table) is not None]

    def player(self, table: Table) -> Player | None:
        """The bot's number at a table. Without its password it is a guest."""
        names = {self.name, f"{self.name} (guest)"}
        return next(
            (player for player, name in enumerate(table.entry.players) if name in names), None
        )

    def on_change(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Call a function when a match has begun or is over, until the function that is returned is
        called.
        """
        return self._server.desk.tables.on_change(tell)

    async def stop_tables(self) -> None:
        """End all matches of the bot, and wait until they are over."""
        over = asyncio.Event()
        stop = self.on_change(lambda: None if self.tables else over.set())
        try:
            for table in self.tables:
                table.abort("the doctor has seen enough")
            if self.tables:
                await over.wait()
        finally:
            stop()

    async def oppose(self, name: str) -> None:
        """Play against the bot, as often as it comes."""
        players = 2 if self.protocol == "bomber" else None
        wish = JoinWish(self.game, name, await self.token(name), players=players)
        bot = f"house:{next(iter(house_bots(self.game)))}"
        with suppress(Unwelcome):
            await Join(
                self._server.url,
                wish,
                lambda: remote_player(bot, CATALOGUE[self.game], name, {}),
                NoDisplay(),
            ).run()

    async def call(self, url: str, opponent: str, rest: float) -> CubeRun:
        """Start a game of Battlecube with the bot at the URL.

        It rests for some seconds after each tick.
        """
        setup = {
            "maxNumOfTicks": 1000,
            "edgeLength": 8,
            "speed": round(rest * 1000),
            "numOfTasksPerTick": 1,
        }
        players = [{"name": self.name, "url": url}, {"name": opponent, "url": "house:random"}]
        run = CubeRun(self._server.host_of(CubeHost), setup, players, 1)
        await run.begin()
        return run


@asynccontextmanager
async def doctor_server(protocol: ProtocolName, game: str) -> AsyncIterator[DoctorServer]:
    with TemporaryDirectory(prefix="botdrome-") as folder:
        flags: dict[str, Any] = {f"{name}.port": 0 for name in protocol_sections()}
        flags |= {"db": f"sqlite:///{folder}/doctor.db", "port": 0}
        flags |= {f"{protocol}.port": -1} if protocol in ("duel", "boats") else {}
        flags |= {
            "drain": 0.0,
            "log.level": "error",
            "bomber.rooms": BOMBER_ROOM,
            "match.start_delay": 0.0,
        }
        flags |= (
            {"boats.rooms": ({"turn_limit": TURN, "absence": TURN},)} if protocol == "boats" else {}
        )
        server = await open_server(load_settings(flags))
        try:
            yield DoctorServer(server, protocol, game)
        finally:
            await server.close()
