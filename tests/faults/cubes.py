"""Battlecube's organiser, with two bots that are called: one stays, the other walks out of the
cube.
"""

from collections.abc import Hashable
from typing import Any

from botdrome.client.protocol_clients import CubeOrganiser
from botdrome.store.entries import MatchEntry
from tests.faults.diary import Cast, Diary
from tests.faults.trying import Address, Group
from tests.server.rooms.cube.clients import NOOP, Bot, bot, game, saying

GAMES = 2
NAME = "organiser"


class Game:
    def __init__(
        self, address: Address, diary: Diary, group: Group, stays: Bot, leaves: Bot
    ) -> None:
        self._address, self._diary, self._group = address, diary, group
        self._players = (("kim", stays.url), ("lou", leaves.url))

    async def visit(self) -> None:
        async with CubeOrganiser.connected(self._address.url) as one:
            await one.emit("NEW_GAME", game(*self._players, maxNumOfTicks=4, edgeLength=2))
            event = ""
            while event not in ("GAME_ENDED", "ERROR"):
                event, ended = await one.receive()
            if event == "GAME_ENDED":
                self._diary.note(
                    "cube",
                    NAME,
                    _facts(ended["id"], ended["result"], ended.get("winner", {}).get("name")),
                )
                self._group.told(NAME)


def _facts(match_id: str, result: str, winner: str | None) -> Hashable:
    return match_id, result, winner


def stored(match: MatchEntry) -> Hashable:
    """The content of a match's GAME_ENDED."""
    assert match.result is not None
    winner = match.result.winner
    if match.status == "aborted":
        return _facts(match.id, "STOPPED", None)
    return _facts(
        match.id,
        "TIE" if winner is None else "WINNER_FOUND",
        None if winner is None else match.players[winner],
    )


async def play(address: Address, diary: Diary, cast: Cast) -> None:
    group = Group(GAMES, NAME)
    walks: list[Any] = [{"task": "MOVE", "direction": "+X"}]
    async with bot(saying(NOOP)) as stays, bot(saying(walks)) as leaves:
        await group.play(Game(address, diary, group, stays, leaves).visit)
