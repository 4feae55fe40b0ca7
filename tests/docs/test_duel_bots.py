"""The example bots of the duel arena page play, in every installed language."""

import asyncio
from pathlib import Path

import pytest

from tests.docs.pages import DOCS
from tests.docs.programs import command, java
from tests.server.clients import PATIENCE, server

pytestmark = pytest.mark.anyio
PAGE = "bots-over-duel-arena.md"


@pytest.mark.parametrize("languages", [("python", "python"), java(("python", "java"))])
async def test_the_bots_of_the_page_play_a_match(
    tmp_path: Path, languages: tuple[str, str]
) -> None:
    words = [command(PAGE, tmp_path, language) for language in languages]
    if not all(words):
        pytest.skip(f"{languages[-1]} is not installed")
    async with server(tmp_path, duel_port=-1) as house:
        outputs = []
        for name, line in zip(("ada", "bob"), words, strict=True):
            process = await asyncio.create_subprocess_exec(
                *line,
                "127.0.0.1",
                str(house.ports["duel"]),
                name,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            outputs.append(process.communicate())
        results = await asyncio.wait_for(asyncio.gather(*outputs), 3 * PATIENCE)
        for stdout, stderr in results:
            status, *boards = stdout.decode().splitlines()
            assert status == "ok", stderr.decode()
            assert len(boards) == 2 and all(
                board.startswith(("win", "lose")) for board in boards
            ), stderr.decode()
        await house.arena.duel.folded()
        (match,) = [line for line in (house.arena.duel.line("ada"),) if line is not None]
        assert (match.total_games, match.invalid_moves) == (2, 0)


def test_the_page_names_every_event() -> None:
    page = (DOCS / PAGE).read_text()
    for word in (
        "player_is_free",
        "starting_game",
        "get_move",
        "invalid_move",
        "win",
        "lose",
        "draw",
        "find_opponent",
        "make_move",
    ):
        assert f'"{word}"' in page
