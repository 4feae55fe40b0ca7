"""Duel arena's clients: two that play match after match."""

from typing import Any

import httpx

from botdrome.client.protocol_clients import DuelStream
from tests.faults.diary import Cast, Diary, Shown
from tests.faults.trying import Address, Group
from tests.server.rooms.duel.clients import FIND

BOARDS = 4
"""Boards of which each is told."""
COUNTS = ("score", "losses", "draws", "boards", "invalid")


class Player:
    def __init__(self, address: Address, diary: Diary, group: Group, name: str) -> None:
        self._address, self._diary, self._group, self._name = address, diary, group, name

    async def visit(self) -> None:
        """Match after match, on one connection."""
        async with DuelStream.connected(self._address.ports["duel"]) as one:
            await one.send({"username": self._name} | FIND)
            while (message := await one.receive()) is not None:
                await self._heed(one, message)

    async def _heed(self, one: DuelStream, message: dict[str, Any]) -> None:
        match message.get("event"):
            case "player_is_free":
                await one.send(FIND)
            case "get_move":
                mine = len(message["board"]["_moves"]) // 2
                await one.answer(message, mine, 0 if message["color"] == "X" else 1)
            case "win" | "lose":
                board = message["board"]
                self._diary.note(
                    "duel", self._name, (board["_id"], message["event"], len(board["_moves"]))
                )
                self._group.told(self._name)


async def play(address: Address, diary: Diary, cast: Cast) -> None:
    names = cast.named("eve", "fay")
    group = Group(BOARDS, *names)
    await group.play(*(Player(address, diary, group, name).visit for name in names))


async def read_table(address: Address, diary: Diary, cast: Cast) -> bool:
    """Whether that worked."""
    async with httpx.AsyncClient(base_url=address.url, trust_env=False, timeout=300) as http:
        answer = await http.get("/api/v1/duel/players")
    if answer.is_success:
        lines = {
            line["name"]: {key: line[key] for key in COUNTS} for line in answer.json()["players"]
        }
        diary.shown.append(Shown("duel table", lines))
    return answer.is_success
