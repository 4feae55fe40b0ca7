"""Clients of duel arena, as simple as the original's: a socket, four bytes of length, JSON."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from botdrome.app import RunningServer
from botdrome.client.protocol_clients import DuelStream
from botdrome.match.events import Cause
from botdrome.server.rooms.duel import BoardIds, DuelLeaderboard, PlayedBoard
from botdrome.server.tables.running_tables import RunningTables
from botdrome.store.store import Store
from tests.server.clients import PATIENCE, server

FREE = {"event": "player_is_free"}
FIND = {"event": "find_opponent"}


@asynccontextmanager
async def arena(folder: Path, **changes: Any) -> AsyncIterator[RunningServer]:
    async with server(folder, duel_port=-1, **changes) as house:
        yield house


async def open_duel_leaderboard(store: Store) -> DuelLeaderboard:
    table = DuelLeaderboard(store, {})
    await table.load()
    return table


async def open_board_ids(store: Store) -> BoardIds:
    ids = BoardIds(store)
    await ids.open()
    return ids


async def store_boards(
    store: Store, table: DuelLeaderboard, match: str, first_id: int, boards: Sequence[PlayedBoard]
) -> None:
    """As the end of a match does."""
    await store.keep(table.enter(match, first_id, boards))
    table.look()
    await table.folded()


def held_back(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Matches that are made begin when this is called, and not before."""
    begin, made = RunningTables._begin, list[Any]()
    monkeypatch.setattr(RunningTables, "_begin", lambda *match: made.append(match))

    def release() -> None:
        for match in made:
            begin(*match)

    return release


class Duellist(DuelStream):
    name = ""
    patience = PATIENCE

    async def bytes(self, data: bytes) -> None:
        self.write(data)
        await self.writer.drain()

    async def until_closed(self) -> list[Any]:
        messages = []
        while (message := await self.receive()) is not None:
            messages.append(message)
        return messages

    async def expect(self, event: str) -> Any:
        message = await self.receive()
        assert message is not None and message.get("event") == event, message
        return message


@asynccontextmanager
async def connected(house: RunningServer, address: str = "127.0.0.1") -> AsyncIterator[Duellist]:
    """A client at an address of this machine."""
    async with Duellist.connected(house.ports["duel"], address) as one:
        yield one


@asynccontextmanager
async def free(house: RunningServer, name: str, **extra: Any) -> AsyncIterator[Duellist]:
    """Logged in."""
    async with connected(house) as one:
        one.name = name
        await one.send({"username": name} | extra)
        assert await one.receive() == {"status": "ok"}
        assert await one.receive() == FREE
        yield one


@asynccontextmanager
async def pair(
    house: RunningServer, *names: str, **extra: Any
) -> AsyncIterator[tuple[Duellist, Duellist, Any]]:
    """Two clients at one table, the beginner first, and the first question."""
    async with (
        free(house, (names or ("ada", "bob"))[0], **extra) as one,
        free(house, (names or ("ada", "bob"))[1], **extra) as two,
    ):
        await one.send(FIND)
        await two.send(FIND)
        yield await seated(one, two)


async def seated(one: Duellist, two: Duellist) -> tuple[Duellist, Duellist, Any]:
    for each, other in ((one, two), (two, one)):
        assert await each.receive() == {"event": "starting_game", "against": other.name}
    first = asyncio.ensure_future(one.receive())
    second = asyncio.ensure_future(two.receive())
    done, late = await asyncio.wait(
        {first, second}, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED
    )
    for task in late:
        task.cancel()
        await asyncio.wait({task})
    question = done.pop().result()
    assert question["event"] == "get_move", question
    return (one, two, question) if first.done() and not first.cancelled() else (two, one, question)


async def arrive(table: DuelLeaderboard, name: str) -> None:
    """Until the record of a newcomer is stored."""
    if (storing := table.arrive(name)) is not None:
        await storing


def board_won_by(
    winner: int | None, start: int = 0, names: tuple[str, str] = ("ada", "bob")
) -> PlayedBoard:
    """The loser was not there to lose it."""
    causes: tuple[Cause, Cause] = (
        ("disconnect", "complete") if winner else ("complete", "disconnect")
    )
    return PlayedBoard(names, causes, winner, start, start + 1, 5)


async def play_rows(one: Duellist, two: Duellist, question: Any) -> tuple[Any, Any]:
    """The first wins in the top row, the other plays in the row below; both last messages."""
    for step in range(9):
        mover, other = (one, two) if step % 2 == 0 else (two, one)
        await mover.answer(question, step // 2, step % 2)
        if step < 8:
            question = await other.expect("get_move")
    return await one.expect("win"), await two.expect("lose")
