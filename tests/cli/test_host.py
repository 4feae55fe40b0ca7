"""`botdrome host` and `botdrome stats`, as one uses them: processes, typed words, real
connections.
"""

import asyncio
import json
import re
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from queue import Queue

import pytest

from botdrome.cli.boats import host
from botdrome.cli.boats.host import HostClient, own_settings
from botdrome.server.network.steady_loop import SteadyClock
from botdrome.server.rooms.boat_settings import BoatRoomSettings, BoatsSection
from tests.cli.commands import run, run_beside
from tests.cli.screens import Terminal
from tests.server.clients import PATIENCE
from tests.server.rooms.boats.clients import BOARD, TOKEN, Line, boat_server, sailor

pytestmark = pytest.mark.anyio
BOTDROME = [sys.executable, "-c", "from botdrome.cli.app import main; main()"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Typist:
    """Somebody at the console of a `botdrome host`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.output = ""

    def type(self, *lines: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{line}\n" for line in lines).encode())

    async def until(self, words: str) -> "re.Match[str]":
        assert self.process.stdout is not None
        while (found := re.search(words, self.output)) is None:
            data = await asyncio.wait_for(self.process.stdout.read(65536), PATIENCE)
            assert data, self.output
            self.output += data.decode()
        self.output = self.output[found.end() :]
        return found

    async def end(self) -> int:
        out, _ = await asyncio.wait_for(self.process.communicate(), PATIENCE)
        self.output += out.decode()
        assert self.process.returncode is not None
        return self.process.returncode


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The statistics are written to `db` in the current folder, as the original does."""
    monkeypatch.chdir(tmp_path)


@asynccontextmanager
async def console(*words: str) -> AsyncIterator[Typist]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *BOTDROME,
        "boats",
        "host",
        *words,
        stdin=pipe,
        stdout=pipe,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        yield Typist(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def joined(port: int, name: str) -> Line:
    one = Line(*await asyncio.open_connection("127.0.0.1", port))
    assert (await one.receive()).startswith("G|")
    one.send(f"J|{name}|{BOARD}")
    await one.expect(f"J|{name}")
    return one


async def test_a_game_is_hosted_from_start_to_end_and_counted(tmp_path: Path) -> None:
    db = f"sqlite:///{tmp_path / 'host.db'}"
    (tmp_path / "small.ini").write_text(
        "name=Small\nboat=A5\nboat=B4\nboat=C3\nboat=D3\nboat=E2\npointGoal=1\n"
    )
    words = (
        "--port",
        "-1",
        "--db",
        db,
        "--config",
        str(tmp_path / "small.ini"),
        "--title",
        "Tea",
    )
    async with console(*words) as typist:
        port = int((await typist.until(r"players join at 127\.0\.0\.1:(\d+)"))[1])
        ann, bob = await joined(port, "ann"), await joined(port, "bob")
        await typist.until("2 of 9 joined: ann, bob")
        typist.type(
            "help", "show", "message good luck", "tell bob you too", "nonsense", "leave", "start"
        )
        for expected in (
            r"boot \[#GAME\] PLAYER",
            "Tea: 2 to 9 players",
            "said to all",
            "said to bob",
            "started: ",
        ):
            await typist.until(expected)
        told = await bob.until("S|")
        assert [line for line in told if line.startswith("M|")] == [
            "M||good luck|All",
            "M||you too",
        ]
        first, second = told[-1].split("|")[1:]
        ships = {"ann": ann, "bob": bob}
        ships[first].send(f"S|{second}|6|3")
        await ships[second].until(f"N|{second}")
        typist.type("skip too slow")
        await typist.until(f"the turn of {second} is skipped")
        ending = ["F|finished|1|2", f"R|{first}|1|0|1|", f"R|{second}|0|1|1|"]
        for ship in (ann, bob):
            assert (await ship.rest())[-3:] == ending
            await ship.close()
        assert await typist.end() == 0, "without --repeat it ends with the game"
    assert sorted(file.name for file in (tmp_path / "db").iterdir()) == [
        "game.Tea.ini",
        "player.ann.ini",
        "player.bob.ini",
    ]
    result = await run_beside("boats", "stats", "--db", db)
    assert result.exit_code == 0
    assert "Tea: 1 game, 0 aborted" in result.stdout
    result = await run_beside("boats", "stats", "Tea", "--db", db)
    assert f"player.{first}.total.score=1\n" in result.stdout
    result = await run_beside(
        "boats",
        "stats",
        first,
        "--player",
        "--json",
        "--db",
        db,
        "--db-dir",
        str(tmp_path / "copy"),
    )
    assert json.loads(result.stdout)["total.score"] == 1
    assert (tmp_path / "copy" / "game.Tea.ini").read_text() == (
        tmp_path / "db" / "game.Tea.ini"
    ).read_text()
    result = await run_beside("boats", "stats", "--json", "--db", db)
    assert set(json.loads(result.stdout)["player"]) == {"ann", "bob"}
    result = await run_beside("boats", "stats", "Coffee", "--db", db)
    assert (result.exit_code, "Coffee" in result.stderr) == (1, True)


def test_a_server_of_ones_own_charges_nobody_for_stalls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs on a loop whose clock leaves them out, as that of `botdrome serve` does."""
    clocks = []

    async def look(*_: object) -> int:
        clocks.append(getattr(asyncio.get_running_loop(), "clock", None))
        return 7

    monkeypatch.setattr(host, "_own_server", look)
    db = f"sqlite:///{tmp_path / 'host.db'}"
    assert run("boats", "host", "--port", "-1", "--db", db).exit_code == 7
    assert isinstance(clocks[0], SteadyClock)


async def test_full_tables_start_by_themselves_until_the_host_quits(tmp_path: Path) -> None:
    words = (
        "--port",
        "-1",
        "--db",
        f"sqlite:///{tmp_path / 'host.db'}",
        "--max",
        "2",
        "--auto-start",
        "--repeat",
        "--title",
        "Tea",
    )
    async with console(*words) as typist:
        port = int((await typist.until(r"players join at 127\.0\.0\.1:(\d+)"))[1])
        ships = [await joined(port, name) for name in ("ann", "bob", "carl", "dora")]
        await typist.until("game 2: ")
        typist.type("abort", "abort #2", "q")
        for expected in ("which game", "aborted", "the room is closed"):
            await typist.until(expected)
        for ship in ships:
            assert "F|aborted|0|2" in await ship.rest()
            await ship.close()
        assert await typist.end() == 0


async def test_who_quits_at_a_terminal_is_asked_first(tmp_path: Path) -> None:
    terminal = Terminal(
        "boats", "host", "--port", "-1", "--db", f"sqlite:///{tmp_path / 'host.db'}"
    )
    try:
        terminal.see("0 of 9 joined")
        terminal.press("quit\n")
        terminal.see("close the room? [y/N]")
        terminal.press("\nmessage on we go\n")
        terminal.see("said to all")
        terminal.press("q\ny\n")
        terminal.see("the room is closed")
        assert terminal.end() == 0
    finally:
        terminal.close()


def test_statistics_of_a_store_that_is_not_there_make_none(tmp_path: Path) -> None:
    file = tmp_path / "no.db"
    result = run("boats", "stats", "--db", f"sqlite:///{file}")
    assert (
        result.exit_code,
        f"{file}: the store does not exist" in result.stderr,
        file.exists(),
    ) == (1, True, False)


async def test_without_a_console_the_server_runs_on_until_a_signal(tmp_path: Path) -> None:
    log = tmp_path / "host.log"
    words = (
        "--port",
        "-1",
        "--db",
        f"sqlite:///{tmp_path / 'host.db'}",
        "--max",
        "2",
        "-a",
        "-r",
        "-t",
        "Tea",
    )
    async with console(*words, "-l", "WARN", "-f", str(log)) as typist:
        port = int((await typist.until(r"players join at 127\.0\.0\.1:(\d+)"))[1])
        assert typist.process.stdin is not None
        typist.process.stdin.close()
        ann = await joined(port, "ann")
        typist.process.send_signal(signal.SIGTERM)
        assert await ann.rest() == ["F|aborted|0|1", "R|ann|0|0|0|"]
        await ann.close()
        assert await asyncio.wait_for(typist.process.wait(), PATIENCE) == 0
        assert log.exists()


class TypedLines:
    """Standard input with these lines, which stays open."""

    def __init__(self, *lines: str) -> None:
        self._lines: Queue[str] = Queue()
        for line in lines:
            self._lines.put(f"{line}\n")

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines.get, "")

    def isatty(self) -> bool:
        return False

    def close(self) -> None:
        self._lines.put("")


async def hosted(url: str, token: str, *lines: str) -> int:
    """Host from afar in this process, and return the status."""
    with pytest.MonkeyPatch.context() as patch, closing(TypedLines(*lines)) as typed:
        patch.setattr(sys, "stdin", typed)
        return await asyncio.wait_for(HostClient(url, token, "").sit(), PATIENCE)


async def test_a_room_of_a_server_that_runs_is_hosted_from_afar(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with (
        boat_server(tmp_path, BoatRoomSettings(max=3, auto_start=False)) as house,
        sailor(house, "ann") as ann,
    ):
        words = ("blacklist player bob", "p carl", "show", "boot ann", "leave")
        assert await hosted(house.url, TOKEN, *words) == 0
        said = capsys.readouterr().out
        for expected in ("1 of 3 joined: ann", "blacklist: bob, carl", "ann is booted"):
            assert expected in said
        assert await ann.rest() == ["booted"]
        assert await hosted(house.url, "wrong") == 1
        assert "that is not the token of this server" in capsys.readouterr().out
    assert await hosted("http://127.0.0.1:1", "x") == 1


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--max", "1"), "max is from min"),
        (("--min", "0"), "min: expected `int` >= 2, not 0"),
        (("--width", "3"), "width: expected"),
        (("--title", "a|b"), "a title has"),
        (("--config", "/nowhere/at/all"), "/nowhere/at/all"),
        (("--port", "0"), "a game needs one"),
        (("-l", "loud"), "there is no log level 'loud'"),
        (("-f", "/nowhere/at/all"), "/nowhere/at/all: No such file"),
        (("--bind-address", "203.0.113.1"), "is no address of this machine"),
    ],
)
def test_a_room_that_cannot_be_is_refused(
    tmp_path: Path, words: tuple[str, ...], complaint: str
) -> None:
    result = run(
        "boats", "host", "--port", "-1", "--db", f"sqlite:///{tmp_path / 'host.db'}", *words
    )
    assert (result.exit_code, complaint in result.stderr) == (2, True), result.stderr


def test_a_configuration_need_not_be_utf_8(tmp_path: Path) -> None:
    (tmp_path / "old.ini").write_bytes(b"# f\xfcr zwei\nname=Caf\xe9\nboat=A5\n")
    settings = own_settings({}, tmp_path / "old.ini", {"boats_port": -1})
    assert [(plan.title, plan.boats) for plan in settings.of(BoatsSection).rooms] == [
        ("Caf\xe9", "A5")
    ]
