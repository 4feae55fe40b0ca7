"""The rooms and contests of a game, of all protocols together. Of several nodes, one has them."""

from collections.abc import Sequence

from botdrome.catalogue import CATALOGUE
from botdrome.server.nodes.rooms import Rooms
from botdrome.server.operator.contest_orders import ContestOrders
from botdrome.server.protocol import ServedProtocol
from botdrome.server.tables.running_tables import RunningTables


def rooms_by_game(
    served: Sequence[ServedProtocol], orders: ContestOrders, tables: RunningTables
) -> dict[str, Rooms]:
    return {
        game: _rooms(game, [one for one in served if one.game == game], orders, tables)
        for game in CATALOGUE
    }


def _rooms(
    game: str, served: Sequence[ServedProtocol], orders: ContestOrders, tables: RunningTables
) -> Rooms:
    async def open_() -> None:
        for one in served:
            await one.open_rooms()
        await orders.open(game)

    def leave() -> None:
        for one in served:
            one.leave_rooms()
        orders.leave(game)

    def in_use() -> bool:
        return any(one.in_use() for one in served) or orders.in_use(game) or tables.bound(game)

    def settled() -> bool:
        return (
            all(one.settled() for one in served)
            and orders.settled(game)
            and not tables.ending_in_contests(game)
        )

    return Rooms(open_, leave, in_use, settled)
