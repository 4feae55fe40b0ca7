"""Xterm Boat Sinker's clients: two sailors on a small sea, game after game."""

from collections.abc import Hashable
from pathlib import Path
from random import Random
from typing import Any

from botdrome.client.protocol_clients import BoatsStream
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from botdrome.server.rooms.boat_statistics import read_folder
from botdrome.store.entries import MatchEntry
from tests.faults.diary import Cast, Diary, Shown
from tests.faults.trying import Address, Group

GAMES = 2
SIDE = 5
PLAN = BoatRoomSettings(title="Sea", width=SIDE, height=SIDE, boats="A3 B2", goal=2, absence=0.0)
FLEET = "AAA.." + "....." + "BB..." + "....." + "....."


class Sailor:
    def __init__(self, address: Address, diary: Diary, group: Group, name: str, other: str) -> None:
        self._address, self._diary, self._group, self._name, self._other = (
            address,
            diary,
            group,
            name,
            other,
        )
        self._random = Random(name)

    async def visit(self) -> None:
        """One game."""
        async with BoatsStream.connected(self._address.ports["xbs"]) as line:
            squares = [(x, y) for y in range(1, SIDE + 1) for x in range(1, SIDE + 1)]
            self._random.shuffle(squares)
            ended: list[str] = []
            while word := await line.receive():
                if word.startswith("G|") and not ended:
                    line.send(f"J|{self._name}|{FLEET}")
                elif word == f"N|{self._name}":
                    x, y = squares.pop()
                    line.send(f"S|{self._other}|{x}|{y}")
                elif word.startswith(("F|", "R|")):
                    ended.append(word)
                    if len(ended) == 3:
                        self._note(ended)

    def _note(self, lines: list[str]) -> None:
        _, state, _, _ = lines[0].split("|")
        rows = [line.split("|")[1:5] for line in lines[1:]]
        self._diary.note(
            "boats",
            self._name,
            _facts(state, {name: tuple(map(int, counts)) for name, *counts in rows}),
        )
        self._group.told(self._name)


def _facts(state: str, counts: dict[str, tuple[int, ...]]) -> Hashable:
    return state, tuple(sorted(counts.items()))


def stored(match: MatchEntry) -> Hashable:
    """The content of a match's lines F and R."""
    assert match.view is not None
    rows = zip(
        match.players, *(match.view[key] for key in ("scores", "skips", "turns")), strict=True
    )
    return _facts(
        "aborted" if match.status == "aborted" else "finished",
        {name: tuple(counts) for name, *counts in rows},
    )


async def play(address: Address, diary: Diary, cast: Cast) -> None:
    one, two = cast.named("g0", "h0")
    group = Group(GAMES, one, two)
    await group.play(
        Sailor(address, diary, group, one, two).visit, Sailor(address, diary, group, two, one).visit
    )


def read_files(folder: Path, diary: Diary) -> None:
    games, players = read_folder(folder)
    pages: dict[str, dict[str, Any]] = games | players
    diary.shown.append(
        Shown("boat statistics", {name: counts_in(page) for name, page in pages.items()})
    )


def counts_in(page: dict[str, Any]) -> dict[str, int]:
    """The numbers of a page that only ever grow."""
    return {
        key: value
        for key, value in page.items()
        if key.startswith("total.") or key in ("gameCount", "gamesPlayed")
    }
