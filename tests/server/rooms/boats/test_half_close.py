"""A client that closes its own side after its lines, as `nc -N` does, still gets all answers."""

import pytest

from botdrome.app import RunningServer
from tests.patience import until
from tests.server.rooms.boats.clients import BOARD, line, the_room

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("lines", "answers"),
    [
        (["P|x"], ["P|x"]),
        ([f"J|ann|{BOARD}"], ["J|ann"]),
        (
            [f"J|ann|{BOARD}", "P|x", "G"],
            ["J|ann", "P|x", "G|1.2.0|Botdrome|N|2|3|1|17|10|10|5|A5|B4|C3|D3|E2"],
        ),
        (["J|1|x", f"J|ann|{BOARD}", "L|bye"], ["E|invalid name", "J|ann", "bye"]),
        (["J|ann|..."], ["invalid board"]),
    ],
)
async def test_all_lines_are_answered_though_nothing_more_can_come(
    shared: RunningServer, lines: list[str], answers: list[str]
) -> None:
    async with line(shared) as one:
        await one.receive()
        one.send(*lines)
        one.writer.write_eof()
        assert await one.rest() == answers
    await until(lambda: not any(group.players for group in the_room(shared).groups))
