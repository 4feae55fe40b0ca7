"""A protocol takes its own folder and one row: its clients meet those of other protocols, and the
server lists its port.
"""

import asyncio
import io
from pathlib import Path

import httpx
import pytest

from botdrome.app import RunningServer, open_server
from botdrome.cli.serve import show
from botdrome.cli.terminal import Terminal
from botdrome.protocols import PROTOCOLS, load_settings
from botdrome.wire.conversation import Admit, Admitted, Close, Submit
from tests.server.clients import PATIENCE, bot, play_noughts, registered
from tests.server.noughts_lines.conversation import FindTable, NoughtsConversation
from tests.server.noughts_lines.server import NOUGHTS, NoughtsServer

pytestmark = pytest.mark.anyio
SIX = (NOUGHTS, *PROTOCOLS)
ROOT = Path(__file__).parents[2]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def test_a_login_in_memory() -> None:
    talk = NoughtsConversation()
    assert talk.begin(0.0) == (b"welcome",)
    assert talk.receive(b"play ann", 0.0) == (Admit("ann", None, "noughts-and-crosses"),)
    (command,) = talk.answer(Admitted("ann"), 0.0)
    assert isinstance(command, FindTable)
    assert talk.receive(b"put 5", 0.0) == (Submit({"mark": "X", "space": (1, 2)}, b"put 5"),)
    assert talk.receive(b"jump", 0.0)[-1] == Close()


async def play(house: RunningServer, name: str) -> str:
    """Take the first free space until the match is over; return the last line."""
    reader, writer = await asyncio.open_connection("127.0.0.1", house.ports["noughts"])
    assert await reader.readline() == b"welcome\n"
    writer.write(f"play {name}\n".encode())
    line = ""
    while more := (await reader.readline()).decode():
        line = more.strip()
        if set(line) <= set(".XO"):
            writer.write(f"put {line.index('.')}\n".encode())
    writer.close()
    return line


async def test_it_plays_against_a_client_of_another_protocol(tmp_path: Path) -> None:
    ports = {f"{row.name}_port": 0 for row in PROTOCOLS if row.section} | {
        "port": 0,
        "noughts_port": -1,
    }
    wanted = ports | {"db": f"sqlite:///{tmp_path / 'six.db'}", "match.start_delay": 0, "drain": 0}
    house = await open_server(load_settings(wanted, protocols=SIX), protocols=SIX)
    try:
        async with asyncio.timeout(PATIENCE), bot(house, await registered(house, "bob")) as bob:
            line, last = await asyncio.gather(play(house, "ann"), play_noughts(bob, "bob"))
        victor = last["state"]["result"]["victor"]
        assert line == f"you are number {1 if victor in ('ann', None) else 2}"
        assert isinstance(house.server_of(NoughtsServer), NoughtsServer)
        async with httpx.AsyncClient(base_url=house.url) as http:
            assert (await http.get("/api/v1/server")).json()["ports"]["noughts"] == house.ports[
                "noughts"
            ]
        screen = Terminal(file=io.StringIO(), record=True)
        show(house, screen)
        assert (
            f"  noughts (TCP)           127.0.0.1:{house.ports['noughts']}"
            in screen.export_text().splitlines()
        )
    finally:
        await house.close()


def test_the_page_shows_this_protocol() -> None:
    page = (ROOT / "docs" / "adding-a-protocol.md").read_text()
    for file in ("conversation.py", "server.py"):
        assert (ROOT / "tests" / "server" / "noughts_lines" / file).read_text() in page


def test_its_port_is_a_setting() -> None:
    assert load_settings({}, {"BOTDROME_NOUGHTS_PORT": "7"}, protocols=SIX) == load_settings(
        {"noughts.port": 7}, protocols=SIX
    )
