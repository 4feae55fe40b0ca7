"""Conversations recorded from the original server, had again with ours over real sockets."""

import ast
import asyncio
import re
from collections import Counter
from pathlib import Path

import pytest

from botdrome.app import RunningServer
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from tests.server.clients import PATIENCE
from tests.server.rooms.boats.clients import Line, Rigged, boat_server, host, order, the_room

pytestmark = pytest.mark.anyio

FOLDER = Path(__file__).parents[3] / "transcripts"
STEP = re.compile(r"\[ *[\d.]+\] (\S.*?) +(->|<-|==|##) ?(.*)")
Step = tuple[str, str, str]

PLANS = {
    "2player": BoatRoomSettings(title="Golden two", repeat=False),
    "tie": BoatRoomSettings(title="Golden tie", repeat=False),
    "taunts": BoatRoomSettings(title="Golden taunts", repeat=False),
    "rejoin": BoatRoomSettings(title="Golden rejoin", repeat=False),
    "chat": BoatRoomSettings(title="Golden chat", max=3, repeat=False),
    "names": BoatRoomSettings(title="Golden names", max=4, auto_start=False),
    "protocol-errors": BoatRoomSettings(title="Golden protocol errors", max=3, auto_start=False),
}
G_NAMES = "G|1.2.0|Golden names|N|2|4|4|17|10|10|5|A5|B4|C3|D3|E2"
G_ERRORS = "G|1.2.0|Golden protocol errors|N|2|3|1|17|10|10|5|A5|B4|C3|D3|E2"
DIFFERENCES: dict[str, dict[tuple[str, str, str, int], list[Step]]] = {
    # Nobody is told that others were closed before it when all is over: "none needed" (section 12).
    "2player": {("alice", "<-", "L|bob|", 1): []},
    "tie": {("alice", "<-", "L|bob|", 1): []},
    # The server's texts to all name the group, as the documentation shows it.
    "chat": {(name, "<-", "M||host here", 1): [(name, "<-", "M||host here|All")] for name in ("alice", "bob", "carol")},
    "rejoin": {
        (name, "<-", "M||alice reconnected", 1): [(name, "<-", "M||alice reconnected|All")] for name in ("new conn2", "bob")
    },
    # A full game says so: "G, then raw game is full, close" (section 12).
    "names": {
        ("c5", "==", "closed by server", 1): [
            ("c5", "<-", G_NAMES), ("c5", "<-", "game is full"), ("c5", "==", "closed by server"),
        ]
    },
    "protocol-errors": {
        # A ping is always answered (section 12).
        ("c1", "<-", "protocol error", 1): [("c1", "<-", "P|hello")],
        ("c1", "==", "closed by server", 1): [("c1", "==", "client closes socket")],
        # An unknown type before joining is told `protocol error` before the close (section 6).
        ("c2", "==", "closed by server", 1): [("c2", "<-", "protocol error"), ("c2", "==", "closed by server")],
        ("c3", "==", "closed by server", 1): [("c3", "<-", "protocol error"), ("c3", "==", "closed by server")],
        # Every field is trimmed, the type too (section 2): this is a G.
        ("c6", "<-", "protocol error", 3): [("c6", "<-", G_ERRORS)],
    },
}  # fmt: skip
"""Steps where the answer is meant to be another than the recorded one: the occurrence, and the new
answer.
"""
CONSOLE = {
    "console to all, console to bob": [
        {"do": "message", "text": "host here"},
        {"do": "message", "to": "bob", "text": "just bob"},
    ]
}
TAUNTS = {"M|alice|nice splash", "M|alice|try again"}


def steps(scenario: str) -> list[Step]:
    recorded = (
        (FOLDER / f"xbs-{scenario}.txt").read_text(encoding="latin-1").split("# ---- exact")[0]
    )
    seen: Counter[Step] = Counter()
    found: list[Step] = []
    for row in recorded.split("\n"):
        match = STEP.fullmatch(row)
        if match is None:
            continue
        step = (match[1].strip(), match[2], match[3])
        seen[step] += 1
        found += DIFFERENCES.get(scenario, {}).get((*step, seen[step]), [step])
    return found


def sent(text: str) -> bytes:
    raw = re.fullmatch(r"(b'.*') \(raw bytes\)", text)
    return ast.literal_eval(raw[1]) if raw else text.encode("latin-1") + b"\n"


class Replay:
    def __init__(self, house: RunningServer) -> None:
        self._house = house
        self._lines: dict[str, Line] = {}
        self._closed: set[str] = set()

    async def take(self, step: Step) -> None:
        name, kind, text = step
        if kind == "##":
            await self._at_the_console(text)
        elif text == "connect" and kind == "==":
            self._lines[name] = Line(
                *await asyncio.open_connection("127.0.0.1", self._house.ports["xbs"])
            )
        elif text == "client closes socket":
            await self._lines[name].close()
            self._closed.add(name)
        elif name not in self._closed:
            await self._talk(name, kind, text)

    async def _talk(self, name: str, kind: str, text: str) -> None:
        one = self._lines[name]
        if kind == "->":
            one.write(sent(text))
            return
        line = await one.receive()
        if text == "closed by server":
            assert line == "", step_name(name, kind, text)
            self._closed.add(name)
        elif text in TAUNTS:
            assert line in TAUNTS
        else:
            assert line == text, step_name(name, kind, text)

    async def _at_the_console(self, note: str) -> None:
        if note in CONSOLE:
            async with host(self._house) as console:
                for words in CONSOLE[note]:
                    assert "done" in await order(console, **words)

    async def close(self) -> None:
        for one in self._lines.values():
            await one.close()


def step_name(*words: str) -> str:
    return " ".join(words)


@pytest.mark.parametrize("scenario", PLANS)
async def test_a_recorded_conversation(tmp_path: Path, scenario: str) -> None:
    """The recorded lines are sent in order; the answers are the same.

    The first player is random.
    """
    script = steps(scenario)
    assert len(script) > 20
    orders = [text for _, kind, text in script if kind == "<-" and text.startswith("S|")]
    async with boat_server(tmp_path, PLANS[scenario]) as house:
        if orders:
            the_room(house).chance = Rigged(*orders[0].split("|")[1:])
        replay = Replay(house)
        try:
            async with asyncio.timeout(6 * PATIENCE):
                for step in script:
                    await replay.take(step)
        finally:
            await replay.close()


def test_every_difference_is_one() -> None:
    """None is listed that is not in its recording."""
    for scenario, differences in DIFFERENCES.items():
        recorded = (
            (FOLDER / f"xbs-{scenario}.txt").read_text(encoding="latin-1").split("# ---- exact")[0]
        )
        for name, kind, text, times in differences:
            found = re.findall(
                rf"^\[[^\]]*\] {re.escape(name)} +{re.escape(kind)} {re.escape(text)}$",
                recorded,
                re.MULTILINE,
            )
            assert len(found) >= times
