"""`botdrome serve`: settings, start-up screen and errors."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from botdrome.cli.serve import show
from botdrome.cli.terminal import Terminal
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from tests.server.clients import server
from tests.server.rooms.boats.clients import boat_server


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_rooms_that_share_a_port_are_shown(tmp_path: Path) -> None:
    rooms = [
        BoatRoomSettings(title="Duels"),
        BoatRoomSettings(title="Tea party"),
        BoatRoomSettings(title="Own", port=-1),
    ]
    console = Terminal(file=io.StringIO(), record=True)
    async with boat_server(tmp_path, *rooms) as house:
        show(house, console)
        lines = console.export_text().splitlines()
        assert (
            f"  boat games (TCP)        127.0.0.1:{house.ports['xbs']} (Duels, Tea party)" in lines
        )
        assert f"  xbs Own                 127.0.0.1:{house.ports['xbs Own']}" in lines


@pytest.mark.anyio
async def test_the_port_of_battlecubes_original_page_is_shown(tmp_path: Path) -> None:
    console = Terminal(file=io.StringIO(), record=True)
    async with server(tmp_path, cube_port=-1) as house:
        show(house, console)
        assert (
            f"  Battlecube's own port   127.0.0.1:{house.ports['cube']}"
            in console.export_text().splitlines()
        )


@pytest.mark.anyio
async def test_the_screen_says_where_to_watch_and_what_stopping_means(tmp_path: Path) -> None:
    console = Terminal(file=io.StringIO(), record=True)
    async with server(tmp_path, drain=25.0) as house, httpx.AsyncClient() as http:
        show(house, console)
        text = console.export_text()
        shown = dict(re.findall(r"^  (\S.*?)  +(\S.*)$", text, re.MULTILINE))
        assert (await http.get(shown["watch and play"].split()[0])).status_code == 200
        assert shown["watch in the terminal"] == f"botdrome watch MATCH --server {house.url}"
    assert (
        "Ctrl-C stops the server: running matches get 25 seconds to end. A second Ctrl-C stops it "
        "at once." in text
    )


@pytest.mark.anyio
async def test_the_screen_does_not_promise_time_where_there_is_none(tmp_path: Path) -> None:
    console = Terminal(file=io.StringIO(), record=True)
    async with server(tmp_path, drain=0.0) as house:
        show(house, console)
    assert (
        "Ctrl-C stops the server: running matches are aborted. A second Ctrl-C stops it at once."
        in console.export_text()
    )


def test_a_server_imports_nothing_heavy_that_it_does_not_need() -> None:
    """Its worker processes need some of it. What both need is in memory once."""
    code = "import sys, botdrome.cli.serve; print(*{name.split('.')[0] for name in sys.modules})"
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    heavy = {"dask", "graphql", "gymnasium", "numpy", "psutil", "textual", "websockets"}
    assert not heavy & set(done.stdout.split())
