"""Broken bots, each diagnosed by name, and healthy ones on each protocol."""

import asyncio
import json
import re
import socket
import sys
import time
from collections.abc import Callable
from contextlib import closing, redirect_stderr
from io import StringIO
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

import pytest
from typer.testing import CliRunner

from botdrome.cli.app import app
from botdrome.cli.wire_check import check_wire
from botdrome.client.join import Unwelcome
from botdrome.client.program import Program
from botdrome.kit import proxy, wire_trials
from botdrome.kit.proxy import Delivery, TrialTraffic
from botdrome.kit.traffic import WireMessage
from botdrome.kit.wire_trials import Part, WireTrial, part_of, trial_server
from botdrome.match.events import Player
from botdrome.match.match import Match
from botdrome.server.arena import Arena
from botdrome.server.network.steady_loop import SteadyLoop

HERE = Path(__file__).parent
PROTOCOLS = {
    "battlebot": ["socket_bot.py", "{url}", "{name}", "{password}"],
    "duel": ["duel_bot.py", "{host}", "{port}", "{name}"],
    "boats": ["boats_bot.py", "{host}", "{port}", "{name}"],
    "bomber": ["bomber_bot.py", "{url}", "{name}", "{password}"],
    "battlecube": ["cube_bot.py", "{port}"],
}
PIECES = {"two pieces": "cannot read a message that comes in two pieces"}
PIECES |= {"single bytes": "cannot read a message that comes byte by byte"}
BROKEN: dict[tuple[str, str], tuple[dict[str, str], str]] = {
    ("duel", "chunks"): (
        PIECES
        | {
            "joined messages": "cannot read several messages that come at once",
            "lost connection": "does not recover from a lost connection",
        },
        "JSONDecodeError|it closed 5 connections before it had played",
    ),
    ("duel", "characters"): (
        {
            "emoji in UTF-8": "counts characters instead of bytes, or cannot read UTF-8",
            "own emoji name": "fails if its own name is not ASCII",
        },
        "Error|it counts characters instead of bytes",
    ),
    ("duel", "twice"): (
        {"repeated question": "fails on a repeated question"},
        r"illegal move at step \d+: .* is taken",
    ),
    ("battlebot", "strict"): ({"unknown keys": "fails on unknown keys"}, "KeyError: 'xUnknown'"),
    ("boats", "lines"): (PIECES, "ValueError: invalid literal for int|IndexError"),
    ("boats", "quits"): (
        {"lost connection": "does not recover from a lost connection"},
        r"it ended with status 1: the connection is lost \(it ended in the middle of the match\)",
    ),
    ("battlecube", "order"): ({"key order": "depends on the order of keys"}, "unreadable: .*"),
    ("battlecube", "ascii"): (
        {
            "emoji name": "fails on names that are not ASCII",
            "own emoji name": "fails if its own name is not ASCII",
        },
        "unreadable: .*",
    ),
    ("battlecube", "again"): (
        {"repeated question": "fails on a repeated question"},
        "unreadable: .*",
    ),
}
THOROUGH = ("boats", "lines")
"""This bot has all trials, the others only `plain` and those that they fail."""
HASTY = {
    ("battlebot", "impatient", "long wait"): (
        "gives up when nothing comes for some seconds",
        "TimeoutError",
    ),
    ("bomber", "hasty", "slow HTTP"): ("gives up on slow HTTP", "TimeoutError"),
}


def command(protocol: str, fault: str) -> list[str]:
    game = ["noughts-and-crosses"] * (protocol == "battlebot")
    file, *words = PROTOCOLS[protocol]
    return ["--protocol", protocol, *game, "--", sys.executable, str(HERE / file), *words, fault]


def examined(*words: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["check", "--wire", "--json", "--patience", "60", *words])
    report: dict[str, Any] = json.loads(result.stdout)
    assert result.exit_code == (0 if report["ok"] else 1)
    return report


def failures(report: dict[str, Any]) -> dict[str, str]:
    return {one["trial"]: one["diagnosis"] for one in report["trials"] if not one["passed"]}


class Author(StringIO):
    """Reads what the check says, and starts a bot when it asks for one."""

    def __init__(self, protocol: str, fault: str) -> None:
        super().__init__()
        self._command, self._asked = command(protocol, fault), 0
        self.programs: list[Program] = []

    def write(self, text: str) -> int:
        written = super().write(text)
        asked = len(re.findall("password:|waits until you start the bot", self.getvalue()))
        if asked > self._asked:
            self._asked = asked
            self.programs.append(Program(self._filled()))
        return written

    def _filled(self) -> list[str]:
        found = re.search(
            r"connect the bot to (\S*?([\d.]+):(\d+)\S*), .*name: (\S+)\s+password: (\S+)",
            self.getvalue(),
            re.S,
        )
        assert found
        command = self._command[self._command.index("--") + 1 :]
        for key, value in zip(
            ("url", "host", "port", "name", "password"), found.groups(), strict=True
        ):
            command = [word.replace(f"{{{key}}}", value) for word in command]
        return command

    def close(self) -> None:
        for program in self.programs:
            program.close(0)


def examined_by_hand(author: Author, protocol: str, *trials: str) -> int:
    game = ["noughts-and-crosses"] if protocol == "battlebot" else []
    with closing(author), redirect_stderr(author):
        return check_wire(game, protocol, trials, True, 0, "", 60.0, 0.1, 0.05)


@pytest.mark.parametrize("protocol", ["battlebot", "duel", "boats", "bomber"])
def test_a_healthy_bot_that_its_author_starts_passes(
    protocol: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert examined_by_hand(Author(protocol, "healthy"), protocol) == 0
    report = json.loads(capsys.readouterr().out)
    assert failures(report) == {}
    assert {"plain", "long name", "lost connection"} <= {one["trial"] for one in report["trials"]}


def test_a_healthy_bot_with_a_url_passes() -> None:
    with closing(Program([sys.executable, str(HERE / "cube_bot.py"), "0", "healthy"])) as bot:
        (port,) = bot.next_lines(perf_counter() + 200)
        url = f"http://127.0.0.1:{int(port)}/"
        report = examined(
            "--silence", "0.1", "--slowness", "0.05", "--protocol", "battlecube", "--url", url
        )
    assert failures(report) == {}
    assert len(report["trials"]) == 13


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_healthy_bot_plays_under_an_emoji_name(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the patience of the check, here 60 s, can put it out for being late."""
    played: list[Match] = []

    def noted(match: Match, player: Player) -> Part:
        played.append(match)
        return part_of(match, player)

    monkeypatch.setattr(wire_trials, "part_of", noted)
    assert examined("--trial", "own emoji name", *command(protocol, "healthy"))["ok"]
    for match in played:
        terms = match.terms
        assert terms.late == "pass" or (terms.pace.allowed(1) or 0) > 60_000


def test_a_stall_of_the_check_is_not_the_bots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here all clocks leap when the bot is asked, as they do for a process that was stopped."""
    stalled: list[float] = []

    def leap(clock: Callable[[], float]) -> None:
        """Replace a clock wherever Botdrome reads it."""
        for name, module in [*sys.modules.items()]:
            for word, value in [*vars(module).items()] if name.startswith("botdrome.") else ():
                if value is clock:
                    monkeypatch.setattr(module, word, lambda: clock() + 1000)
        monkeypatch.setattr(time, clock.__name__, lambda: clock() + 1000)

    async def stall(self: Delivery, message: WireMessage) -> bool:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SteadyLoop)
        if self._traffic.questions == 1 and not stalled:
            stalled.append(loop.time())
            leap(monotonic)
            leap(perf_counter)
            loop.clock._read = time.monotonic
            assert loop.time() - stalled[0] < 1
        return await send(self, message)

    send = Delivery._send
    monkeypatch.setattr(Delivery, "_send", stall)
    assert examined("--trial", "plain", *command("duel", "healthy"))["ok"]
    assert stalled


def test_the_opponent_is_registered_before_the_bot_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot that crashed at once ended the trial while its opponent was being registered. That name
    was taken then, so the next bots waited for an opponent in vain.
    """
    done: list[str] = []
    register = Arena.register

    async def registered(self: Arena, game: str, name: str, owner: str) -> tuple[Any, str]:
        bot = await register(self, game, name, owner)
        done.append(name)
        return bot

    def started(words: list[str]) -> Program:
        done.append("the bot starts")
        return Program(words)

    monkeypatch.setattr(Arena, "register", registered)
    monkeypatch.setattr(wire_trials, "Program", started)
    examined("--trial", "two pieces", "--trial", "single bytes", *command("boats", "lines"))
    assert done == ["Opponent", "the bot starts", "Rival", "the bot starts"]


def test_a_bot_is_not_blamed_if_its_opponent_cannot_play(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(self: wire_trials.TrialServer, name: str) -> None:
        raise Unwelcome(f"{name} is not welcome")

    monkeypatch.setattr(wire_trials.TrialServer, "oppose", refused)
    result = CliRunner().invoke(app, ["check", "--wire", *command("boats", "healthy")])
    assert result.exit_code == 3
    assert " ".join(result.stderr.split()) == (
        "botdrome: the bot was not checked: its opponent cannot play: Opponent is not welcome"
    )
    assert "failed" not in result.stdout


def test_an_opponent_that_fails_after_the_bot_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While the check waits for the last words of a bot, it plays on, perhaps so fast that the
    opponent is cut off for its rate.
    """
    explaining, failing = asyncio.Event(), asyncio.Event()
    oppose, explain = wire_trials.TrialServer.oppose, WireTrial._explained

    async def opposed(self: wire_trials.TrialServer, name: str) -> None:
        playing = asyncio.create_task(oppose(self, name))
        await explaining.wait()
        playing.cancel()
        failing.set()
        raise Unwelcome("too many messages")

    async def explained(self: WireTrial, reason: str) -> str:
        explaining.set()
        await failing.wait()
        return await explain(self, reason)

    assert wire_trials.FAREWELL == 2.0
    monkeypatch.setattr(wire_trials, "FAREWELL", 0.2)
    monkeypatch.setattr(wire_trials.TrialServer, "oppose", opposed)
    monkeypatch.setattr(WireTrial, "_explained", explained)
    report = examined("--trial", "repeated question", *command("duel", "twice"))
    assert failures(report) == {"repeated question": "fails on a repeated question"}


@pytest.mark.anyio
async def test_a_bot_that_left_and_came_back_has_not_crashed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It plays on, so its last words would not come within the patience of the check."""
    monkeypatch.setattr(wire_trials, "FAREWELL", 0.0)
    traffic = TrialTraffic()
    traffic.left = 1
    async with trial_server("boats", "battleship", 60.0) as server:
        with closing(Program([sys.executable, "-c", "input()"])) as bot:
            trial = WireTrial(server, traffic, bot, 1000.0)
            explaining = asyncio.create_task(trial._explained("it closed the connection"))
            await asyncio.sleep(0)  # the trial waits for the last words now
            traffic.connect()
            async with asyncio.timeout(60):
                assert await explaining == "it closed the connection"


def test_the_author_is_asked_to_start_the_bot_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(wire_trials, "PROMPT", 0.0)
    author = Author("boats", "quits")
    assert examined_by_hand(author, "boats", "joined messages", "long name") == 0
    assert len(author.programs) > 1
    assert len(json.loads(capsys.readouterr().out)["trials"]) == 2


def test_a_bot_that_waits_until_its_bytes_are_there_passes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It leaves a piece unread until the rest is there."""
    assert proxy.WAITS == 3.0
    monkeypatch.setattr(proxy, "WAITS", 0.5)
    trials = ("two pieces", "single bytes", "lost connection")
    chosen = [word for trial in trials for word in ("--trial", trial)]
    report = examined(*chosen, *command("duel", "waits"))
    assert failures(report) == {}
    assert len(report["trials"]) == 3


@pytest.mark.anyio
async def test_a_bot_that_plays_on_its_sixth_connection_is_not_blamed() -> None:
    traffic = TrialTraffic()
    async with trial_server("duel", "gomoku", 60.0) as server:
        trial = WireTrial(server, traffic, None, 1000.0)
        for _ in range(wire_trials.MANY):
            assert trial._look() is None
            traffic.connect()
            traffic.disconnect(by_bot=True)
        traffic.connect()
        assert trial._look() is None
        traffic.disconnect(by_bot=True)
        assert trial._look() == "it closed 6 connections before it had played"


def test_an_error_of_the_proxy_is_not_the_bots(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(self: Delivery, data: bytes) -> bool:
        raise ValueError("the proxy fails")

    monkeypatch.setattr(Delivery, "take", fail)
    words = ["check", "--wire", "--trial", "plain", *command("boats", "healthy")]
    result = CliRunner().invoke(app, words)
    assert str(result.exception) == "the proxy fails"
    assert "failed" not in result.stdout


@pytest.mark.parametrize(("protocol", "fault"), BROKEN)
def test_a_broken_bot_is_diagnosed(protocol: str, fault: str) -> None:
    diagnoses, words = BROKEN[protocol, fault]
    trials = [] if (protocol, fault) == THOROUGH else ["plain", *diagnoses]
    chosen = [word for trial in trials for word in ("--trial", trial)]
    report = examined("--silence", "0.1", "--slowness", "0.05", *chosen, *command(protocol, fault))
    assert failures(report) == diagnoses
    assert len(report["trials"]) > len(diagnoses)
    assert [
        one["reason"]
        for one in report["trials"]
        if not (one["passed"] or re.search(words, one["reason"]))
    ] == []


@pytest.mark.parametrize(("protocol", "fault", "trial"), HASTY)
def test_a_hasty_bot_is_diagnosed(protocol: str, fault: str, trial: str) -> None:
    """The trial ends when the bot gives up, long before its own end."""
    diagnosis, words = HASTY[protocol, fault, trial]
    report = examined(
        "--silence", "60", "--slowness", "4", "--trial", trial, *command(protocol, fault)
    )
    assert failures(report) == {trial: diagnosis}
    assert words in report["trials"][0]["reason"]


def test_a_url_that_the_game_does_not_take_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as bot:
        url = f"http://127.0.0.1:{bot.getsockname()[1]}/a b"
        words = ["check", "--wire", "--protocol", "battlecube", "--url", url]
        result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert '--url cannot be used: "url" must be a valid uri' in result.stderr


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--protocol", "chess"], "there is no protocol 'chess'"),
        ([], "the game is missing"),
        (["--protocol", "duel", "battleship"], "duel has only the game gomoku"),
        (["--protocol", "battlecube"], "battlecube needs either --url"),
        (
            ["--protocol", "battlecube", "--url", "ftp://127.0.0.1/"],
            "--url is http://HOST:PORT/PATH",
        ),
        (
            ["--protocol", "battlecube", "--url", "http://127.0.0.1:1/", "--port", "1"],
            "--port is not for battlecube",
        ),
        (["--protocol", "duel", "--url", "http://127.0.0.1:1"], "--url is only for battlecube"),
        (
            ["--protocol", "duel", "--trial", "slow HTTP"],
            "there is no trial 'slow HTTP' here; there are plain, two pieces,",
        ),
    ],
)
def test_a_bad_command_is_refused(words: list[str], error: str) -> None:
    result = CliRunner().invoke(app, ["check", "--wire", *words])
    assert result.exit_code == 2
    assert error in result.stderr.replace("\n", " ")
