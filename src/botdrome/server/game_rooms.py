"""The rooms and contests of a game, of all protocols together. Of several nodes, one has them."""

from collections.abc import Sequence

from botdrome.formats import FORMATS
from botdrome.server.contests.contests import Contests
from botdrome.server.nodes.rooms import Rooms
from botdrome.server.protocol import ServedProtocol
from botdrome.server.tables.running_tables import RunningTables


def rooms_by_game(served: Sequence[ServedProtocol], contests: Contests, tables: RunningTables) -> dict[str, Rooms]:
    return {game: _rooms(game, [one for one in served if one.game == game], contests, tables) for game in FORMATS}


def _rooms(game: str, served: Sequence[ServedProtocol], contests: Contests, tables: RunningTables) -> Rooms:
    async def open_() -> None:
        for one in served:
            await one.open_rooms()
        await contests.open(game)

    def leave() -> None:
        for one in served:
            one.leave_rooms()
        contests.leave(game)

    def in_use() -> bool:
        return any(one.in_use() for one in served) or contests.are_running(game) or tables.bound(game)

    return Rooms(open_, leave, in_use)
