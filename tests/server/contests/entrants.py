"""Contests on a real server, and bots that play in them."""

import asyncio
from typing import Any

from websockets.exceptions import ConnectionClosed

from botdrome.app import RunningServer
from botdrome.contest.document import document_from
from botdrome.contest.progress import ContestProgress
from botdrome.store.contest_journal import StoredContest
from tests.server.clients import bot, play_noughts, registered

CUP = {"name": "cup", "game": "noughts-and-crosses", "games": 2}


async def open_contest(house: RunningServer, **changes: Any) -> None:
    await house.contests.create(document_from(CUP | changes), "operator")
    await house.contests.act("cup", "open", "operator")


async def entered(
    house: RunningServer, *names: str, game: str = "noughts-and-crosses"
) -> list[dict[str, Any]]:
    """The logins of new bots that have entered the cup."""
    logins = []
    for name in names:
        logins.append(
            await registered(house, name, game) | {"contest": "cup", "features": ["again"]}
        )
        entry = await house.arena.store.bot(name)
        assert entry is not None
        await house.contests.enter("cup", entry, name)
    return logins


async def play_on(house: RunningServer, login: dict[str, Any]) -> list[Any]:
    """Play until the contest is over, and return the last messages."""
    async with bot(house, login) as one:
        try:
            while True:
                first = await one.receive()
                if "match" not in first:
                    return [first]
                await play_noughts(one, login["name"])
                await one.send({"again": True})
        except ConnectionClosed:
            return []


async def play_all(house: RunningServer, logins: list[dict[str, Any]]) -> StoredContest:
    """Play to the end of the contest."""
    told = await asyncio.gather(*[play_on(house, login) for login in logins])
    assert told == [[{"contest": "cup", "complete": True}]] * len(logins)
    return await stored_cup(house)


async def stored_cup(house: RunningServer) -> StoredContest:
    return await house.contests.journal.load("cup")


async def cup_progress(house: RunningServer) -> ContestProgress:
    cup = await stored_cup(house)
    return ContestProgress(cup.entry.document, cup.entrants, cup.results)
