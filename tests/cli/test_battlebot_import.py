"""`botdrome import` with the files that mongoexport writes of a Battlebot database, and the server
after it.
"""

import asyncio
import io
from pathlib import Path
from typing import Any, BinaryIO, cast

import httpx
import pytest

from botdrome.app import RunningServer
from botdrome.cli import admin
from tests.cli.test_keeping import run
from tests.server.clients import NOTICES, bot, play_noughts, server
from tests.store import battlebot_database as original
from tests.store.battlebot_database import (
    PASSWORD,
    array,
    bumblebots,
    cut_short,
    lines,
    noughts,
    pretty,
)

BOTS = [original.bot(name) for name in ("Ada", "Bob", "Cleo")] + [
    original.bot(name, "BUMBLEBOTS") for name in ("Abe", "Bea")
]
GAMES = [
    noughts("00000000000000a1", contest="cup"),
    cut_short("00000000000000a2", "timeout", "Bob", contest="cup"),
    noughts("00000000000000a3"),
    bumblebots("00000000000000b1", contest="bees"),
]
GAME_QUERY = """{
  games(gameType: NOUGHTS_AND_CROSSES, filters: {contest: "cup"}) {
    ... on NoughtsAndCrossesGame {
      id bots { name owner } contest { name } result { victor { name } reason } board startTime marks { X { name } O { name } }
      turns { space mark time bot { name } }
    }
  }
  contests(gameType: NOUGHTS_AND_CROSSES) { name rankings { bot { name } wins draws losses played score } }
}"""
BEES_QUERY = """{
  games(gameType: BUMBLEBOTS, filters: {limit: 1}) {
    ... on AnyGame { id state result { victor { name } reason } endTime record turns { step } }
  }
  contest(gameType: BUMBLEBOTS, name: "bees") { rankings { bot { name } wins } }
}"""


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "bots.json").write_bytes(lines(*BOTS))
    (tmp_path / "games.json").write_bytes(array(*GAMES))
    return [str(tmp_path / "bots.json"), str(tmp_path / "games.json")]


def in_test_db(folder: Path) -> str:
    """The store that a test's server opens."""
    return f"sqlite:///{folder / 'test.db'}"


@pytest.mark.parametrize("written", [lines, array, pretty])
def test_every_form_is_taken_in_once(tmp_path: Path, written: Any) -> None:
    file = tmp_path / "all.json"
    file.write_bytes(written(*GAMES, *BOTS))
    for new in (9, 0):
        taken = run("admin", "import", str(file), "--db", in_test_db(tmp_path))
        assert (taken.exit_code, taken.stderr) == (0, f"{new} entries were new\n")
    taken = run("admin", "import", "-", "--db", in_test_db(tmp_path), typed=file.read_bytes())
    assert (taken.exit_code, taken.stderr) == (0, "0 entries were new\n")


def test_what_is_left_out_is_named_and_the_rest_taken_in(files: list[str], tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_bytes(lines(original.bot("Eve", "CHESS"), {"name": "cup"}, original.bot("Dan")))
    taken = run("admin", "import", str(bad), *files, "--db", in_test_db(tmp_path))
    assert taken.exit_code == 1
    assert taken.stderr.splitlines() == [
        f"botdrome: {bad}: line 1: gameType is NOUGHTS_AND_CROSSES or BUMBLEBOTS, not 'CHESS'; "
        "left out",
        f"botdrome: {bad}: line 2: this is neither a bot (with a password) nor a game (with bots); "
        "left out",
        "10 entries were new",
    ]


def test_a_file_that_is_no_json_is_named_with_the_line(files: list[str], tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_bytes(lines(original.bot("Dan")) + b"oops\n")
    taken = run("admin", "import", files[0], str(bad), "--db", in_test_db(tmp_path))
    assert taken.exit_code == 1
    assert taken.stderr == f"botdrome: {bad}: line 2: expecting value: 'oops\\n'\n"
    taken = run(
        "admin", "import", files[0], str(tmp_path / "bad.json"), "--db", in_test_db(tmp_path)
    )
    assert taken.exit_code == 1
    assert (
        run("admin", "import", files[0], "--db", in_test_db(tmp_path)).stderr
        == "0 entries were new\n"
    )


class ManyGames(io.RawIOBase):
    """A file with this number of games, generated while it is read."""

    def __init__(self, games: int) -> None:
        self._left, self._text = games, b""

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        if not self._text and self._left:
            self._text = lines(noughts(f"{self._left:016x}"))
            self._left -= 1
        some, self._text = self._text[: len(target)], self._text[len(target) :]
        target[: len(some)] = some
        return len(some)


def test_a_long_file_is_written_in_packets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botdrome.store.archive.PACKET", 20_000)
    monkeypatch.setattr(
        admin, "_standard_input", lambda: cast(BinaryIO, io.BufferedReader(ManyGames(300)))
    )
    assert (
        run("admin", "import", "-", "--db", in_test_db(tmp_path)).stderr == "300 entries were new\n"
    )


async def asked(house: RunningServer, query: str) -> Any:
    async with httpx.AsyncClient(base_url=house.url) as http:
        answer = (await http.post("/graphql", json={"query": query})).json()
        assert "errors" not in answer, answer
        return answer["data"]


def test_bots_log_in_with_their_passwords_and_contests_go_on(
    files: list[str], tmp_path: Path
) -> None:
    assert run("admin", "import", *files, "--db", in_test_db(tmp_path)).exit_code == 0

    async def play() -> None:
        async with server(tmp_path, contest_games=2, contest_wait=0.0) as house:
            ada, bob = [
                {
                    "gameType": "NOUGHTS_AND_CROSSES",
                    "name": name,
                    "password": PASSWORD,
                    "contest": "cup",
                }
                | NOTICES
                for name in ("Ada", "Bob")
            ]
            for _ in range(2):
                async with bot(house, ada) as one, bot(house, bob) as two:
                    last, _ = await asyncio.gather(
                        play_noughts(one, "Ada"), play_noughts(two, "Bob")
                    )
                    assert last["state"]["bots"] == ["Bob", "Ada"], (
                        "Ada was first twice, on the original"
                    )
            async with bot(house, ada) as one:
                assert await one.receive() == {"contest": "cup", "complete": True}

    asyncio.run(play())


def test_bots_whose_names_could_not_be_registered_here_log_in(tmp_path: Path) -> None:
    """The original had no rules for names."""
    names = ["", " ", "a/b", "Ada.Bot", "x" * 10_000, "Ad\u0430", "Ad\u3164a", "\x00", "\x1b[31m"]
    (tmp_path / "bots.json").write_bytes(lines(*[original.bot(name) for name in names]))
    assert (
        run("admin", "import", str(tmp_path / "bots.json"), "--db", in_test_db(tmp_path)).exit_code
        == 0
    )

    async def log_in() -> None:
        async with server(tmp_path) as house:
            for name in names:
                async with bot(
                    house, {"gameType": "NOUGHTS_AND_CROSSES", "name": name, "password": PASSWORD}
                ):
                    pass

    asyncio.run(log_in())


def test_games_and_standings_are_shown(files: list[str], tmp_path: Path) -> None:
    assert run("admin", "import", *files, "--db", in_test_db(tmp_path)).exit_code == 0

    async def look() -> None:
        async with server(tmp_path) as house:
            shown = await asked(house, GAME_QUERY)
            games = {game["id"]: game for game in shown["games"]}
            game = games["00000000000000a1"]
            assert game["bots"] == [
                {"name": "Ada", "owner": "David"},
                {"name": "Bob", "owner": "David"},
            ]
            assert game["result"] == {"victor": {"name": "Ada"}, "reason": "complete"}
            assert game["board"] == [["X", "O", ""], ["X", "O", ""], ["X", "", ""]]
            assert game["startTime"] == "Sun Aug 06 2017 18:04:03 GMT+0000 (UTC)"
            assert game["turns"][1] == {
                "space": [0, 1],
                "mark": "O",
                "time": str(original.START + 140),
                "bot": {"name": "Bob"},
            }
            assert games["00000000000000a2"]["result"] == {
                "victor": {"name": "Bob"},
                "reason": "timeout",
            }
            rows = [
                (row["bot"]["name"], row["wins"], row["losses"])
                for row in shown["contests"][0]["rankings"]
            ]
            assert sorted(rows) == [("Ada", 1, 1), ("Bob", 1, 1)]
            bees = await asked(house, BEES_QUERY)
            (game,) = bees["games"]
            assert game["result"] == {"victor": {"name": "Bea"}, "reason": "BUMBLEBOTS_FULL_TIME"}
            assert (game["state"]["score"], game["endTime"], game["record"], game["turns"]) == (
                [2, 5],
                None,
                None,
                [],
            )
            assert [(row["bot"]["name"], row["wins"]) for row in bees["contest"]["rankings"]] == [
                ("Bea", 1),
                ("Abe", 0),
            ]
            async with httpx.AsyncClient(base_url=house.url) as http:
                match = (await http.get("/api/v1/matches/00000000000000b1")).json()
                assert (match["ended"], match["result"]["victor"]) == (None, "Bea")
                missing = await http.get("/api/v1/matches/00000000000000b1/record")
                assert (missing.status_code, "has no record" in missing.text) == (404, True)
                assert (
                    await http.get("/api/v1/matches/00000000000000a1/record")
                ).status_code == 200

    asyncio.run(look())
