"""A client that closes its own side after its lines, as `nc -N` does, still gets all answers."""

from pathlib import Path

import pytest

from tests.server.rooms.boats.clients import BOARD, boat_server, line

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("lines", "answers"),
    [
        (["P|x"], ["P|x"]),
        ([f"J|ann|{BOARD}"], ["J|ann"]),
        (
            [f"J|ann|{BOARD}", "P|x", "G"],
            ["J|ann", "P|x", "G|1.2.0|Botdrome|N|2|2|1|17|10|10|5|A5|B4|C3|D3|E2"],
        ),
        (["J|1|x", f"J|ann|{BOARD}", "L|bye"], ["E|invalid name", "J|ann", "bye"]),
        (["J|ann|..."], ["invalid board"]),
    ],
)
async def test_all_lines_are_answered_though_nothing_more_can_come(
    tmp_path: Path, lines: list[str], answers: list[str]
) -> None:
    async with boat_server(tmp_path) as house, line(house) as one:
        await one.receive()
        one.send(*lines)
        one.writer.write_eof()
        assert await one.rest() == answers
