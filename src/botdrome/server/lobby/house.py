"""House bots at a server's tables."""

import asyncio
import secrets
from typing import Any

import structlog
from msgspec import Struct

from botdrome.bots.house import NOVICES, HouseBot, house_bots, house_view
from botdrome.games.chance import SEED_BITS, Chance
from botdrome.games.game import Game, Raw, Seat, View
from botdrome.match.events import Player
from botdrome.server.lobby.clients import NOBODY
from botdrome.server.tables.running_tables import Candidate
from botdrome.server.tables.table import Subscriber, Table
from botdrome.server.workers.jobs import JobFailed, WorkersClosed
from botdrome.server.workers.pool import Workers

log = structlog.get_logger()

THOUGHT = "botdrome.server.workers.jobs:house_bot_move"
ATTEMPTS = 3
"""Attempts at one move, where workers die."""


def house_bot(game: str, name: str) -> tuple[str, HouseBot] | None:
    """`house:NAME`; plain `house` means one of middle strength."""
    bots = house_bots(game)
    if name == "house":
        name = f"house:{list(bots)[(len(bots) - 1) // 2]}"
    plain = name.removeprefix("house:")
    found = NOVICES.get(game) if plain == "novice" else bots.get(plain)
    return (name, found) if found else None


class GatheredPlayer(Struct, frozen=True, gc=False):
    """A player of a table that is about to start. A house bot has no client."""

    name: str
    owner: str = NOBODY
    client: Candidate | None = None
    house: HouseBot | None = None


def house_players(name: str, bot: HouseBot, seats: int) -> list[GatheredPlayer]:
    """One house bot on several seats of a table."""
    names = [f"{name} {number}" if number else name for number in range(seats)]
    return [GatheredPlayer(one, house=bot) for one in names]


class HouseSeat:
    """A house bot at a seat.

    It thinks in a worker process, so that no other client waits for it. A busy machine may let it
    wait: a house bot does not lose on time.
    """

    def __init__(self, workers: Workers, table: Table, player: Player, bot: HouseBot) -> None:
        self._workers, self._table, self._player, self._bot = workers, table, player, bot
        self._chance = Chance(secrets.randbits(SEED_BITS))
        self._answered = -1
        self._thinking: asyncio.Task[None] | None = None

    def sit_down(self) -> None:
        self._table.seat_house(self._player)
        self._table.subscribe(Subscriber(changed=self._look, over=lambda _: self._stop()))

    def _look(self) -> None:
        match = self._table.match
        if self._answered != match.steps:
            self._stop()
            if self._player in match.awaited:
                self._answered = match.steps
                seat = match.seat_of(self._player)
                self._thinking = asyncio.ensure_future(
                    self._answer(match.steps, match.position, seat)
                )

    def _stop(self) -> None:
        """Stop thinking about a step that is over."""
        if self._thinking is not None:
            self._thinking.cancel()
            self._thinking = None

    async def _answer(self, step: int, position: Game[Any], seat: Seat) -> None:
        """The views of many house bots are made one by one, since making all of them takes long."""
        try:
            move, self._chance = await self._thought(house_view(position, seat))
        except WorkersClosed:
            return
        except Exception:
            log.exception("a house bot failed", match=self._table.entry.id)
            self._thinking = None
            self._table.expel(self._player, "crash", "the house bot has failed")
            return
        self._thinking = None
        match = self._table.match
        if match.steps == step and match.result is None:
            self._table.submit(self._player, move, b"")

    async def _thought(self, view: View, attempts: int = ATTEMPTS) -> tuple[Raw, Chance]:
        """Ask again if a worker dies, which need not be the bot's fault."""
        try:
            thought: tuple[Raw, Chance] = await self._workers.value(
                self._table.entry.id, THOUGHT, self._bot, view, self._chance
            )
            return thought
        except JobFailed as problem:
            if attempts == 1 or isinstance(problem, WorkersClosed):
                raise
            log.warning(
                "a house bot thinks again", match=self._table.entry.id, problem=str(problem)
            )
        return await self._thought(view, attempts - 1)
