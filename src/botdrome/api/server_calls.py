"""Calls from worker processes to the server, for what a job cannot read from the store: both ends
of them.
"""

from botdrome.api.live_tables import live_tables
from botdrome.contest.document import ContestDocument
from botdrome.games.game import View
from botdrome.server.arena import Arena
from botdrome.server.contests.contests import Action
from botdrome.server.lobby.tokens import NotOperator
from botdrome.server.operator.contest_orders import ContestOrders
from botdrome.server.tables.audience import LiveTable
from botdrome.server.workers.jobs import ServerCaller
from botdrome.server.workers.pool import ServerCalls
from botdrome.store.store import MatchEntry, Store

OPERATOR_NEEDED = "The operator's token is needed, in the header Authorization: Bearer TOKEN"

CONTEST_ORDERS = {
    "create_contest",
    "change_contest",
    "act_on_contest",
    "withdraw_bot",
    "rerun_contest",
}
ORDERS = CONTEST_ORDERS | {"register", "move", "rotate", "revoke", "enter", "withdraw"}
"""The calls that change something."""


def server_calls(arena: Arena) -> ServerCalls:
    """The functions of the server, by name."""

    async def live(game: str | None) -> tuple[list[LiveTable], int]:
        return live_tables(arena.tables, game)

    async def view(match_id: str) -> View | None:
        return (await arena.look(match_id)).view

    async def protocols(match_id: str) -> dict[str, str]:
        return (await arena.look(match_id)).protocols

    async def contest_games() -> int:
        return arena.queue.contest_games

    async def awaited(contest: str) -> list[str]:
        return [] if arena.contests is None else await arena.contests.awaited(contest)

    return {
        **contest_calls(arena),
        "live": live,
        "view": view,
        "protocols": protocols,
        "holder": arena.holder,
        "owns": arena.owns,
        "register": arena.register,
        "move": arena.move,
        "rotate": arena.rotate,
        "revoke": arena.revoke,
        "contest_games": contest_games,
        "awaited": awaited,
        "enter": arena.enter,
        "count_duels": arena.duel.folded,
        "withdraw": arena.withdraw,
    }


def contest_calls(arena: Arena) -> ServerCalls:
    """The functions of contests, which are for the operator."""

    async def contests(token: object) -> ContestOrders:
        """Return the contests to the operator alone."""
        if arena.contests is None or arena.keys is None or not isinstance(token, str):
            raise PermissionError(OPERATOR_NEEDED)
        try:
            await arena.keys.check(token)
        except NotOperator:
            raise PermissionError(OPERATOR_NEEDED) from None
        return arena.contests

    async def create_contest(token: object, document: ContestDocument) -> None:
        await (await contests(token)).create(document)

    async def change_contest(token: object, name: str, document: ContestDocument) -> None:
        await (await contests(token)).change(name, document)

    async def act_on_contest(token: object, name: str, action: Action) -> None:
        await (await contests(token)).act(name, action)

    async def withdraw_bot(token: object, name: str, bot: str, why: str) -> None:
        await (await contests(token)).take_out(name, bot, why)

    async def rerun_contest(token: object, name: str, bots: list[str], failed: bool) -> None:
        await (await contests(token)).rerun(name, bots, failed)

    return {
        "rerun_contest": rerun_contest,
        "create_contest": create_contest,
        "change_contest": change_contest,
        "act_on_contest": act_on_contest,
        "withdraw_bot": withdraw_bot,
    }


class ReadContext:
    """The context of a read-only request in a worker process: its own store, and calls to the
    server.
    """

    def __init__(self, server: ServerCaller, store: Store) -> None:
        self.server, self.store = server, store

    async def owns(self, entry: MatchEntry, seat: int, token: str) -> bool:
        return bool(await self.server.call("owns", entry, seat, token))

    async def present_view(self, match_id: str) -> View | None:
        view: View | None = await self.server.call("view", match_id)
        return view

    async def protocols(self, match_id: str) -> dict[str, str]:
        """Of the connected players of a running match."""
        found: dict[str, str] = await self.server.call("protocols", match_id)
        return found

    async def awaited(self, contest: str) -> list[str]:
        """The bots of a contest that have matches to play and are not connected."""
        found: list[str] = await self.server.call("awaited", contest)
        return found

    async def count_duels(self) -> None:
        """Wait until all stored boards of duel arena are counted."""
        await self.server.call("count_duels")

    async def contest_games(self) -> int:
        """Games each way for every pair in a contest."""
        return int(await self.server.call("contest_games"))
