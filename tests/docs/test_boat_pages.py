"""The pages on boat games: their bots play, their settings are valid, their tables are complete."""

import asyncio
import re
import tomllib
from pathlib import Path

import msgspec
import pytest

from botdrome.cli.boats.host import WORDS
from botdrome.protocols import load_settings
from botdrome.server.rooms.boat_settings import BoatRoomSettings, BoatsSection
from tests.docs.pages import DOCS, blocks
from tests.docs.programs import command, java
from tests.server.clients import PATIENCE
from tests.server.rooms.boats.clients import boat_server

pytestmark = pytest.mark.anyio
BOTS, HOSTING = "bots-over-xterm-boat-sinker.md", "hosting-boat-games.md"


@pytest.mark.parametrize(
    ("language", "players"), [("python", 2), ("javascript", 2), java("java", 2), ("python", 3)]
)
async def test_the_bots_of_the_page_play_a_whole_game(
    tmp_path: Path, language: str, players: int
) -> None:
    words = command(BOTS, tmp_path, language)
    if not words:
        pytest.skip(f"{language} is not installed")
    async with boat_server(tmp_path, BoatRoomSettings(max=players)) as house:
        outputs = []
        for name in ("ann", "bob", "carl")[:players]:
            process = await asyncio.create_subprocess_exec(
                *words, "127.0.0.1", str(house.ports["xbs"]), name,
                stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
            outputs.append(process.communicate())
        for stdout, stderr in await asyncio.wait_for(asyncio.gather(*outputs), 3 * PATIENCE):
            lines = stdout.decode().split()
            assert lines[0].startswith("F|finished|"), stderr.decode()
            assert len(lines) == players + 1


def test_the_settings_of_the_page_are_read(tmp_path: Path) -> None:
    (text,) = blocks(HOSTING, "toml")
    (tmp_path / "botdrome.toml").write_text(text)
    settings = load_settings({}, {}, tmp_path / "botdrome.toml")
    assert [room.title for room in settings.of(BoatsSection).rooms] == ["Duels", "Tea party"]
    assert (
        tomllib.loads(text)["boats"]["rooms"][1]["port"] == settings.of(BoatsSection).rooms[1].port
    )


def test_every_key_of_a_room_is_on_the_page_with_its_default() -> None:
    page = (DOCS / HOSTING).read_text()
    for field in msgspec.structs.fields(BoatRoomSettings):
        usual = (
            str(field.default).lower() if isinstance(field.default, bool) else str(field.default)
        )
        assert re.search(
            rf"^\| .*`{field.name}`.* \| `?{re.escape(usual)}`? \|", page, re.MULTILINE
        ), field.name


def test_every_word_of_the_console_is_on_the_page() -> None:
    page = (DOCS / HOSTING).read_text()
    for word in WORDS:
        assert re.search(rf"`{word}\b", page), word
