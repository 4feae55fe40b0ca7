"""Battlebot's clients: a contest of two bots, and two bots that just play; both noughts and
crosses.
"""

from collections.abc import Hashable
from itertools import count
from random import Random
from typing import Any

import httpx

from botdrome.client.protocol_clients import JsonSocket
from botdrome.store.entries import MatchEntry
from tests.faults.diary import Cast, Diary, Shown
from tests.faults.trying import Address, Group, until_it_works

GAME = "noughts-and-crosses"
RANKINGS = """query ($name: ID!) {
    contest(gameType: NOUGHTS_AND_CROSSES, name: $name) { rankings { bot { name } wins draws losses } }
}"""
EACH_WAY = 2
"""Games of a contest in which each of a pair begins."""
GAMES = 2
"""Games outside of it."""
PATIENCE = 300.0
Names = tuple[str, ...]


class Bot:
    """One bot, from its registration on."""

    def __init__(
        self, address: Address, diary: Diary, group: Group, name: str, contest: str | None = None
    ) -> None:
        self._address, self._diary, self._group, self._contest = address, diary, group, contest
        self._wish = {"contest": contest, "features": ["notices"]} if contest else {}
        self._role = self.name = name
        self._random = Random(name)

    async def register(self) -> None:
        """Until a password was told.

        A name may have been taken by an attempt whose answer was lost.
        """
        numbers = count(2)

        async def ask() -> bool:
            async with httpx.AsyncClient(
                base_url=self._address.url, trust_env=False, timeout=PATIENCE
            ) as http:
                answer = await http.post(
                    "/api/v1/bots", json={"game": GAME, "name": self.name, "owner": "faults"}
                )
            if answer.status_code != 201:
                self.name = f"{self._role}-{next(numbers)}"
                return False
            login = {
                "gameType": "NOUGHTS_AND_CROSSES",
                "name": self.name,
                "password": answer.json()["password"],
            }
            self._diary.registered[self.name] = login | self._wish
            return True

        await until_it_works(ask)

    async def visit(self) -> None:
        """One match, and all that comes before its end."""
        async with JsonSocket.connected(self._address.url, open_timeout=PATIENCE) as socket:
            await socket.send(self._diary.registered[self.name])
            answer = await socket.receive()
            if answer.get("authentication") == "OK":
                await self._play(socket)

    async def _play(self, socket: JsonSocket) -> None:
        while True:
            message = await socket.receive()
            if message.get("complete"):
                self._diary.complete.append((self.name, message["contest"]))
                self._group.told(self._role)
            elif "state" in message:
                state = message["state"]
                if state["result"]:
                    self._diary.note(
                        "battlebot",
                        self.name,
                        _facts(state["bots"], state["board"], state["result"]["victor"]),
                    )
                    if self._contest is None:
                        self._group.told(self._role)
                elif self.name in state["waitingFor"]:
                    await socket.send(self._move(state))

    def _move(self, state: dict[str, Any]) -> dict[str, Any]:
        free = [[r, c] for r in range(3) for c in range(3) if not state["board"][r][c]]
        mark = next(mark for mark, owner in state["marks"].items() if owner == self.name)
        return {"mark": mark, "space": self._random.choice(free)}


def _facts(players: Any, board: Any, victor: str | None) -> Hashable:
    return tuple(players), tuple(map(tuple, board)), victor


def stored(match: MatchEntry) -> Hashable:
    """The result that players of a match get."""
    assert match.result is not None and match.view is not None
    winner = match.result.winner
    return _facts(
        match.players, match.view["board"], None if winner is None else match.players[winner]
    )


async def _come_and_play(
    address: Address, diary: Diary, results: int, names: tuple[str, ...], contest: str | None = None
) -> None:
    group = Group(results, *names)
    bots = [Bot(address, diary, group, name, contest) for name in names]
    for bot in bots:
        await bot.register()
    await group.play(*(bot.visit for bot in bots))


async def play_contest(address: Address, diary: Diary, cast: Cast) -> None:
    """Until both are told that it is complete."""
    await _come_and_play(address, diary, 1, cast.named("ada", "bob"), cast.contest)


async def play_open(address: Address, diary: Diary, cast: Cast) -> None:
    await _come_and_play(address, diary, GAMES, cast.named("cleo", "dan"))


async def read_standings(address: Address, diary: Diary, cast: Cast) -> bool:
    """By REST and by GraphQL; whether that worked."""
    async with httpx.AsyncClient(base_url=address.url, trust_env=False, timeout=PATIENCE) as http:
        rest = await http.get(f"/api/v1/contests/{GAME}/{cast.contest}")
        graphql = await http.post(
            "/graphql", json={"query": RANKINGS, "variables": {"name": cast.contest}}
        )
    if not rest.is_success or not graphql.is_success or "errors" in graphql.json():
        return False
    lines = {line["bot"]: line for line in rest.json()["rankings"]}
    diary.shown.append(Shown("standings", {name: _counts(line) for name, line in lines.items()}))
    found = graphql.json()["data"]["contest"]["rankings"]
    diary.shown.append(Shown("standings", {line["bot"]["name"]: _counts(line) for line in found}))
    return True


def _counts(line: dict[str, Any]) -> dict[str, int]:
    return {key: line[key] for key in ("wins", "draws", "losses")}
