"""Rubbish over duel arena's protocol, at every stage of a conversation, beside a match that must
not notice.
"""

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from botdrome.app import RunningServer
from botdrome.games.chance import Chance
from tests.server.clients import unhurried
from tests.server.fuzzing import Complaints, message, mutated
from tests.server.rooms.duel.clients import (
    FIND,
    FREE,
    Duellist,
    arena,
    connected,
    free,
    play_rows,
    seated,
)

pytestmark = pytest.mark.anyio

CLIENTS = 6
HEADERS = [b"\0\0\0\0", b"\xff\xff\xff\xff", b"\0\0", b"\0\1\0\1"]


async def test_rubbish_disturbs_nobody(tmp_path: Path) -> None:
    problems: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
    complaints = Complaints(problems)
    logging.getLogger().addHandler(complaints)
    try:
        with unhurried("gomoku"):
            async with (
                arena(tmp_path) as house,
                free(house, "ada") as ada,
                free(house, "bob") as bob,
            ):
                await ada.send(FIND)
                await bob.send(FIND)
                one, two, question = await seated(ada, bob)
                await asyncio.gather(
                    *(pester(house, Chance(1, number), 25) for number in range(CLIENTS))
                )
                await play_rows(one, two, question)
                await play_rows(two, one, await two.expect("get_move"))
                assert [await each.receive() for each in (one, two)] == [FREE, FREE]
    finally:
        logging.getLogger().removeHandler(complaints)
    assert problems == []


async def pester(house: RunningServer, chance: Chance, connections: int) -> None:
    for number in range(connections):
        async with connected(house) as one:
            try:
                if chance.below(4):
                    await one.send(
                        {"username": f"fuzz {chance.below(CLIENTS)}", "features": ["draw"]}
                    )
                    await one.send(FIND)
                for _ in range(chance.below(12)):
                    await rubbish(one, chance)
                if number % 5 == 0:
                    await one.bytes(chance.choice(HEADERS))
            except ConnectionError:
                continue


async def rubbish(one: Duellist, chance: Chance) -> None:
    """A message, or an answer that is somewhat like one."""
    if chance.below(3) == 0 and (question := await heard(one)) is not None:
        move = {"event": "make_move", "id": question.get("id"), "x": 3, "y": 4}
        await one.send_frame(json.dumps(mutated(chance, move)).encode())
    else:
        text = message(chance)
        await one.send_frame((text.encode() if isinstance(text, str) else text) or b"0")


async def heard(one: Duellist) -> dict[str, Any] | None:
    """The next message, if there is one already."""
    if len(one.reader._buffer) < 4:  # type: ignore[attr-defined]
        return None
    said: dict[str, Any] | None = await one.receive()
    return said
