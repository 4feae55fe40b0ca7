"""Bomberman clients: two users, one of which blows itself up, and a spectator of their games."""

import asyncio
from collections.abc import Hashable
from typing import Any

from botdrome.client.protocol_clients import BomberClient, JsonSocket
from botdrome.store.entries import MatchEntry
from tests.faults.diary import Cast, Diary
from tests.faults.trying import BREAKS, Address, Group

GAMES = 2
SPECTATOR = "spectator"
ROOMS = (
    "default:players=2,early=1,round=60000,registration=3600,rest=0.1,fuse=1,height=5,width=5,"
    "rounds=9"
)
"""A round ends when both have acted."""


class Users:
    """Both users; they get the same messages."""

    def __init__(
        self, address: Address, diary: Diary, group: Group, names: tuple[str, ...]
    ) -> None:
        self._address, self._diary, self._group, self._names = address, diary, group, names

    async def visit(self) -> None:
        """One game."""
        client, ids = BomberClient(self._address.url), list[str]()
        for name in self._names:
            answer = await client.register(name)
            if "user_id" not in answer:
                return
            ids.append(answer["user_id"])
        state = await client.state()
        watching = (
            asyncio.ensure_future(self._watch(state["game_id"])) if state.get("game_id") else None
        )
        try:
            await self._play(client, ids, state)
            if watching is not None:
                await watching
        finally:
            if watching is not None:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)

    async def _play(self, client: BomberClient, ids: list[str], state: dict[str, Any]) -> None:
        game = state.get("game_id")
        while state.get("phase") == "PLAYING" and state["game_id"] == game:
            number = state["state_number"]
            for user, action in zip(
                ids, ("PLACE_BOMB" if number == 1 else "WAIT", "WAIT"), strict=True
            ):
                await client.act(user, action, number)
            state = await client.state(after=number)
        if state.get("phase") == "FINISHED" and state["game_id"] == game:
            scores = tuple(sorted(state["scores"].items()))
            self._diary.note(
                "bomberman", self._names[0], (game, "aborted" in state, state["winner"], scores)
            )
        self._group.told(self._names[0])

    async def _watch(self, match_id: str) -> None:
        """To the end of the match."""
        try:
            async with JsonSocket.connected(self._address.url, f"/watch/{match_id}") as socket:
                while True:
                    event = (await socket.receive()).get("event", {})
                    if event.get("event") == "ended":
                        result = event["result"]
                        facts = (
                            match_id,
                            tuple(result["places"]),
                            tuple(result["scores"]),
                            tuple(result["causes"]),
                        )
                        self._diary.note("spectators", SPECTATOR, facts)
        except BREAKS:
            pass


def stored(match: MatchEntry) -> Hashable:
    """The content of a match's phase FINISHED."""
    result = match.result
    if result is None or match.status == "aborted":
        return match.id, True, None, ()
    scores = zip(match.players, map(int, result.scores), strict=True)
    return (
        match.id,
        False,
        None if result.winner is None else match.players[result.winner],
        tuple(sorted(scores)),
    )


def watched(match: MatchEntry) -> Hashable:
    """The spectator's message about the end of a match."""
    result = match.result
    return match.id if result is None else (match.id, result.places, result.scores, result.causes)


async def play(address: Address, diary: Diary, cast: Cast) -> None:
    """Wait until this number of games is over. A late client finds the next registration."""
    names = cast.named("ivy", "joe")
    group = Group(GAMES, names[0])
    await group.play(Users(address, diary, group, names).visit)
