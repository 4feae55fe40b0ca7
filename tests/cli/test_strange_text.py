"""Text from strangers: whichever command prints it, the terminal takes no orders from it, and it
has no markup.
"""

import asyncio
import io
import json
import unicodedata
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
import structlog
import typer
from rich.live import Live
from rich.table import Table
from rich.text import Text

from botdrome.cli import remote
from botdrome.cli.boats.headless import message_line, result_lines
from botdrome.cli.boats.host import HostClient, show_all, show_page, statistics_pages
from botdrome.cli.logs import configure_logs
from botdrome.cli.pictures import Frame, drawn, picture_of
from botdrome.cli.terminal import Terminal, complain, say
from botdrome.client.boats_game import LogMessage, ResultRow, TrackedGame
from botdrome.client.rest import RestServer, ServerProblem
from botdrome.client.terminal_text import shown, shown_lines
from botdrome.client.tunnel import TunnelClient, Unwanted
from botdrome.protocols import load_settings
from botdrome.server.rooms.boat_statistics import BoatStatistics
from tests.cli.commands import run

EVIL = "\x1b[31m\x9b2J\u202e\u2066[red]:smile:\x07\x7f\u200b"
COMMANDS = Path(__file__).parents[2] / "src" / "botdrome" / "cli"
GOLDEN = Path(__file__).parents[1] / "golden" / "version_2"
Captured = pytest.CaptureFixture[str]


def harmless(text: str) -> None:
    """The text is printed without control characters, and markup in it stays as written."""
    assert "[red]:smile:" in text
    assert {unicodedata.category(letter) for letter in text.replace("\n", "")} & {
        "Cc",
        "Cf",
        "Cs",
        "Co",
        "Zl",
        "Zp",
    } == set()


def test_one_function_makes_text_safe() -> None:
    assert shown(EVIL) == "␛[31m\ufffd2J\ufffd\ufffd[red]:smile:␇␡\ufffd"
    assert shown("a\nb\tc\r") == "a␊b␉c␍"
    assert shown_lines("a\nb\x1b") == "a\nb␛"
    assert shown("Борис 名前 👩‍💻 é") == "Борис 名前 👩‍💻 é"


@pytest.mark.parametrize("what", [EVIL, Text(EVIL), picture_of("no game", {"a": EVIL}, (EVIL,))])
def test_whatever_is_printed_is_harmless(what: Any) -> None:
    stream = io.StringIO()
    Terminal(file=stream, width=200).print(what)
    harmless(stream.getvalue())


def test_tables_and_what_changes_on_the_screen_are_harmless() -> None:
    stream = io.StringIO()
    table = Table(EVIL, title=EVIL)
    table.add_row(EVIL)
    console = Terminal(file=stream, width=200)
    with Live(console=console, auto_refresh=False) as live:
        live.update(table, refresh=True)
    harmless(stream.getvalue())


def test_our_own_orders_to_the_terminal_are_kept() -> None:
    stream = io.StringIO()
    Terminal(file=stream, force_terminal=True, color_system="standard").print(
        Text(f"red {EVIL}", "red")
    )
    assert stream.getvalue().startswith("\x1b[31mred ␛[31m") and "\x9b" not in stream.getvalue()


def test_no_command_prints_in_another_way() -> None:
    for file in COMMANDS.rglob("*.py"):
        if file.name != "terminal.py":
            text = file.read_text()
            assert not any(
                words in text
                for words in ("import Console", "Console(", "typer.echo", "markup=True")
            ), file


def test_complaints(capsys: Captured) -> None:
    complain(EVIL)
    harmless(capsys.readouterr().err)


def raising(problem: Exception) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> None:
        raise problem

    return fail


def test_why(monkeypatch: pytest.MonkeyPatch) -> None:
    line = {"t": 1, "message": f"{EVIL}\nforged", "verdict": EVIL}
    lines = [line | {"dir": "out"}, line | {"dir": "in"}, {"cause": EVIL, "reason": EVIL}]
    refused = ServerProblem(EVIL)
    monkeypatch.setattr(RestServer, "get", lambda *_: {"players": [EVIL]})
    monkeypatch.setattr(RestServer, "lines", lambda *_: lines)
    monkeypatch.setattr(RestServer, "match_file", raising(refused))
    result = run("why", "m", "--token", "token", "--seat", "0", "--server", "http://127.0.0.1:1")
    assert result.exit_code == 0
    printed = result.stdout
    harmless(printed)
    assert len(printed.splitlines()) == 4, "no line is forged"


def test_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = urllib.error.HTTPError(
        "", 403, "", Message(), io.BytesIO(json.dumps({"error": EVIL}).encode())
    )
    monkeypatch.setattr(urllib.request, "urlopen", raising(problem))
    result = run("why", "m", "--token", "token", "--seat", "0", "--server", "http://127.0.0.1:1")
    assert result.exit_code == 1
    harmless(result.stderr)


class Told:
    """A connection on which these messages come."""

    def __init__(self, *messages: Any) -> None:
        self._messages = [json.dumps(message) for message in messages]

    async def __aenter__(self) -> "Told":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def __aiter__(self) -> AsyncIterator[str]:
        for message in self._messages:
            yield message

    async def send(self, _: str) -> None:
        pass

    async def close(self) -> None:
        pass


def test_watch(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    start = {
        "snapshot": True,
        "game": EVIL,
        "players": [EVIL, "b"],
        "t": 0,
        "view": {"a": EVIL},
        "bots": [EVIL, "b"],
    }
    monkeypatch.setattr(remote, "connect", lambda *_, **__: Told(start, {"error": EVIL}))
    with pytest.raises(typer.Exit):
        remote.watch("m", "http://127.0.0.1:1")
    printed = capsys.readouterr()
    harmless(printed.out)
    harmless(printed.err)


def test_what_is_told_of_a_match(capsys: Captured) -> None:
    Terminal().print(drawn("no game", Frame(0, 0, {"a": EVIL}, (EVIL,), [EVIL, f"{EVIL}\nforged"])))
    harmless(capsys.readouterr().out)


def test_replay_and_verify(tmp_path: Path) -> None:
    file = tmp_path / "evil [red]:smile:.jsonl"
    lines = (GOLDEN / "noughts-and-crosses.jsonl").read_text().splitlines()
    setup = json.loads(lines[0]) | {"names": [EVIL, f"{EVIL}\nforged"]}
    file.write_text("\n".join([json.dumps(setup), *lines[1:]]) + "\n")
    for text in (file.read_text(), json.dumps({EVIL: EVIL}) + "\n"):
        file.write_text(text)
        for command in ("replay", "verify"):
            printed = run(command, str(file))
            harmless(printed.stdout + printed.stderr)


def test_host(capsys: Captured) -> None:
    player = {"name": EVIL, "address": "::1", "status": f"{EVIL}\nforged"}
    sailor = player | {"score": 1, "skips": 0, "turns": 1, "hits": 0, "toMove": True}
    room = {
        "title": EVIL, "min": 2, "max": 2, "width": 10, "height": 10, "goal": 17, "boats": ["A5"],
        "gathers": 1, "gathering": [player],
        "games": [{"number": 1, "squares": 17, "players": [sailor]}], "over": True,
        "blacklist": {"players": [EVIL], "addresses": []},
    }  # fmt: skip
    told = Told({"room": room, "asked": True}, {"error": EVIL}, {"done": EVIL})
    asyncio.run(HostClient("http://127.0.0.1:1", "", "")._listen(told))  # type: ignore[arg-type]
    harmless(capsys.readouterr().out)


def test_connect(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(tunnel: TunnelClient) -> None:
        tunnel._say(EVIL)
        raise Unwanted(EVIL)

    monkeypatch.setattr(TunnelClient, "run", run)
    with pytest.raises(typer.Exit):
        remote.connect_command("ann", "token", "http://127.0.0.1:1", "http://127.0.0.1:2")
    harmless(capsys.readouterr().err)


def test_stats(capsys: Captured) -> None:
    nowhere: Any = None
    books = BoatStatistics(nowhere, None)
    books.games = {EVIL: {"gameCount": 1}, f"{EVIL}|{EVIL}": {"total.games": 1}}
    books.players = {EVIL: {"playerName": EVIL}}
    show_all(books)
    for kind in ("player", "game"):
        show_page(kind, EVIL, statistics_pages(books), as_json=False)
    harmless(capsys.readouterr().out)


def test_boats_without_a_screen(capsys: Captured) -> None:
    boats = TrackedGame()
    boats.results = [ResultRow(EVIL, 1, 2, 3, EVIL)]
    for line in (message_line(LogMessage(EVIL, EVIL, EVIL)), *result_lines(boats)):
        say(line)
    harmless(capsys.readouterr().out)


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_logs(capsys: Captured, log_format: str) -> None:
    configure_logs(load_settings({"log_format": log_format}))
    log = structlog.get_logger()
    log.info(EVIL, player=EVIL)
    try:
        raise ValueError(EVIL)
    except ValueError:
        log.exception("failed")
    harmless(capsys.readouterr().err)
