"""Calls from worker processes to the server, for what a job cannot read from the store.

These functions and the methods of `Arena` run in the server.
"""

from collections.abc import Set

from msgspec import Struct

from botdrome.api.live_tables import live_tables
from botdrome.server.arena import Arena
from botdrome.server.lobby.tokens import NotOperator
from botdrome.server.tables.audience import LiveTable
from botdrome.server.workers.jobs import ServerCaller
from botdrome.server.workers.pool import ServerCall
from botdrome.store.entries import BotEntry, Participant
from botdrome.store.store import StoreReader
from botdrome.wire.upload import UploadLimits

OPERATOR_NEEDED = "The operator's token is needed, in the header Authorization: Bearer TOKEN"


async def live(arena: Arena, game: str | None) -> tuple[list[LiveTable], int]:
    return live_tables(arena.tables, game)


async def contest_games(arena: Arena) -> int:
    """Games each way for every pair in a contest."""
    return arena.desk.settings.contest.games


async def count_duels(arena: Arena) -> None:
    """Wait until all stored boards of duel arena are counted."""
    await arena.duel.folded()


async def awaited(arena: Arena, contest: str) -> list[str]:
    """The bots of a contest that have matches to play and are not connected."""
    return [] if arena.contests is None else await arena.contests.awaited(contest)


async def participant_with(arena: Arena, token: str) -> Participant:
    """The participant of a class with this owner token."""
    return await arena.classes.participant(token)


async def order_contest(
    arena: Arena, token: object, name: str, verb: Struct, game: str = ""
) -> None:
    """For the operator alone."""
    if arena.contests is None or arena.keys is None or not isinstance(token, str):
        raise PermissionError(OPERATOR_NEEDED)
    try:
        await arena.keys.check(token)
    except NotOperator:
        raise PermissionError(OPERATOR_NEEDED) from None
    await arena.contests.order(name, verb, game)


async def check_upload(arena: Arena, bot: BotEntry) -> UploadLimits:
    return await arena.hosting.check_allowed(bot)


async def add_upload(arena: Arena, bot: BotEntry, version: str, digest: str, size: int) -> int:
    return await arena.hosting.add(bot, version, digest, size)


ORDERS: Set[ServerCall] = {
    add_upload, order_contest, Arena.register, Arena.move, Arena.rotate, Arena.revoke, Arena.enter,
    Arena.withdraw,
}  # fmt: skip
"""The calls that change something."""


class ReadContext:
    """The context of a read-only request in a worker process: its own store, and calls to the
    server.
    """

    def __init__(self, server: ServerCaller, store: StoreReader) -> None:
        self.call, self.store = server.call, store
