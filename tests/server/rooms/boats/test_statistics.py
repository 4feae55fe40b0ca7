"""The statistics of boat games: in the store, as files, and from files of the original."""

from pathlib import Path

import pytest

from botdrome.server.rooms.boat_settings import BoatRoomSettings, original_settings
from botdrome.server.rooms.boat_statistics import (
    GAMES,
    PLAYERS,
    file_name,
    game_page,
    read_folder,
    write_files,
    written,
)
from tests.server.rooms.boats.clients import BOARD, boat_rooms, boat_server, sailors, the_room

pytestmark = pytest.mark.anyio

ORIGINAL_GAME = """\
boat=A5
boat=B4
gameCount=3
height=10
last.aborted=false
last.hits=20
last.playerCount=2
last.ties=0
last.turnCount=40
maxPlayers=2
minPlayers=2
name=Tea
player.a.b.last.firstPlace=true
player.a.b.last.turns=40
player.a.b.total.firstPlace=2
player.a.b.total.turns=120
pointGoal=9
total.aborted=0
total.hits=60
total.playerCount=6
total.ties=0
total.turnCount=120
width=10
"""


async def play(
    house_folder: Path, plan: BoatRoomSettings, fleet: str = "", **changes: str
) -> tuple[dict[str, object], dict[str, object]]:
    """Ann hits once and bob skips, in a game for one hit.

    Return the statistics of the title and of ann.
    """
    board = fleet.ljust(100, ".") if fleet else BOARD
    async with (
        boat_server(house_folder, plan, **changes) as house,
        sailors(house, "ann", "bob", board=board) as (ann, bob),
    ):
        ann.send("S|bob|1|1" if fleet else "S|bob|6|3")
        await bob.until("N|bob")
        bob.send("K")
        await ann.rest()
        await bob.rest()
        await boat_rooms(house).statistics.folded()
        games, players = (
            await house.arena.store.notes(GAMES),
            await house.arena.store.notes(PLAYERS),
        )
        return game_page(games, plan.title), players["ann"]


async def test_a_game_is_counted_by_title_and_by_player(tmp_path: Path) -> None:
    plan = BoatRoomSettings(title="Tea", goal=1)
    await play(tmp_path, plan)
    game, ann = await play(tmp_path, plan)
    assert game == {
        "name": "Tea", "minPlayers": 2, "maxPlayers": 2, "pointGoal": 1, "width": 10, "height": 10,
        "boat": ["A5", "B4", "C3", "D3", "E2"], "gameCount": 2, "total.aborted": 0,
        "last.aborted": False, "total.turnCount": 2, "last.turnCount": 1, "total.playerCount": 4,
        "last.playerCount": 2, "total.hits": 2, "last.hits": 1, "total.ties": 0, "last.ties": 0,
        "player.ann.total.firstPlace": 2, "player.ann.last.firstPlace": True,
        "player.ann.total.lastPlace": 0, "player.ann.last.lastPlace": False,
        "player.ann.total.score": 2, "player.ann.last.score": 1, "player.ann.total.skips": 0,
        "player.ann.last.skips": 0, "player.ann.total.turns": 2, "player.ann.last.turns": 1,
        "player.ann.total.games": 2, "player.bob.total.firstPlace": 0,
        "player.bob.last.firstPlace": False, "player.bob.total.lastPlace": 2,
        "player.bob.last.lastPlace": True, "player.bob.total.score": 0, "player.bob.last.score": 0,
        "player.bob.total.skips": 2, "player.bob.last.skips": 1, "player.bob.total.turns": 2,
        "player.bob.last.turns": 1, "player.bob.total.games": 2,
    }  # fmt: skip
    assert ann == {
        "playerName": "ann", "lastAddress": "127.0.0.1", "lastStatus": "disconnected",
        "gamesPlayed": 2, "total.firstPlace": 2, "last.firstPlace": True, "total.lastPlace": 0,
        "last.lasPlace": False, "total.opponents": 2, "last.opponents": 1, "total.score": 2,
        "last.score": 1, "total.skips": 0, "last.skips": 0, "total.turns": 2, "last.turns": 1,
        "total.hitCount": 0, "last.hitCount": 0, "total.missCount": 0, "last.missCount": 0,
    }  # fmt: skip


async def test_the_last_status_is_that_of_a_closed_connection_whyever_it_was_closed(
    tmp_path: Path,
) -> None:
    async with boat_server(tmp_path) as house:
        async with sailors(house, "ann", "bob") as (ann, bob):
            ann.send("L|so long")
            assert "|so long|" in (await bob.until("B|ann|"))[-1]
            the_room(house).games[0].abort()
            assert (await bob.rest())[1:] == ["R|ann|0|0|0|so long", "R|bob|0|0|0|"]
        await boat_rooms(house).statistics.folded()
        assert (await house.arena.store.notes(PLAYERS))["ann"]["lastStatus"] == "disconnected"


async def test_an_aborted_game_counts_as_such_and_a_tie_as_one(tmp_path: Path) -> None:
    async with boat_server(tmp_path) as house:
        async with sailors(house, "ann", "bob") as (ann, bob):
            ann.send("S|bob|1|1")
            await bob.until("N|bob")
            the_room(house).games[0].abort()
            await ann.rest()
            await bob.rest()
        await boat_rooms(house).statistics.folded()
        game = game_page(await house.arena.store.notes(GAMES), "Botdrome")
        assert (
            game["total.aborted"],
            game["last.aborted"],
            game["last.ties"],
            game["last.turnCount"],
        ) == (1, True, 1, 1)
        bob_line = (await house.arena.store.notes(PLAYERS))["bob"]
        assert (
            bob_line["last.missCount"],
            bob_line["last.firstPlace"],
            bob_line["last.lasPlace"],
        ) == (1, True, True)


async def test_the_folder_has_files_like_the_originals_which_can_be_read_as_configurations(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "db"
    await play(tmp_path, BoatRoomSettings(title="Tea/Time", goal=1), boats_dir=str(folder))
    assert sorted(file.name for file in folder.iterdir()) == [
        "game.Tea%2FTime.ini",
        "player.ann.ini",
        "player.bob.ini",
    ]
    text = (folder / "game.Tea%2FTime.ini").read_text()
    assert text.splitlines() == sorted(text.splitlines())
    assert "boat=A5\nboat=B4\n" in text
    assert "last.aborted=false\n" in text
    assert original_settings(text) == {
        "title": "Tea/Time", "min": 2, "max": 2, "goal": 1, "width": 10, "height": 10,
        "boats": "A5 B4 C3 D3 E2",
    }  # fmt: skip


async def test_what_the_original_counted_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "db"
    folder.mkdir()
    (folder / "game.Tea.ini").write_text(ORIGINAL_GAME)
    (folder / "player.ann.ini").write_text(
        "playerName=ann\ngamesPlayed=7\ntotal.turns=99\nlast.firstPlace=x\n"
    )
    (folder / "player.broken.ini").write_text("no key and value\n")
    (folder / "other.ini").write_text("a=b\n")
    game, ann = await play(tmp_path, BoatRoomSettings(title="Tea", goal=1), boats_dir=str(folder))
    assert (game["gameCount"], game["total.hits"], game["player.a.b.total.turns"]) == (4, 61, 120)
    assert (ann["gamesPlayed"], ann["total.turns"]) == (8, 100)
    assert game["player.a.b.total.games"] == 3, (
        "the original does not count that: it is the title's"
    )
    game, ann = await play(tmp_path, BoatRoomSettings(title="Tea", goal=1), boats_dir=str(folder))
    assert (game["gameCount"], ann["gamesPlayed"]) == (5, 9), "and it is taken over once"
    assert read_folder(folder)[1]["ann"]["gamesPlayed"] == 9


NEWER_GAME = (
    ORIGINAL_GAME.replace("boat=", "ship=").replace("a.b", "ann")
    + """\
averageTime=00:01:07
last.time=00:00:58
last.timeMS=58123
player.ann.last.timeMS=0007
player.ann.note=new
total.time=0d 00:03:21
total.timeMS=201456
unknown=1
unknown=2
"""
)


async def test_what_only_a_newer_version_of_the_original_writes_stays_as_it_was(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "db"
    folder.mkdir()
    (folder / "game.Tea.ini").write_text(NEWER_GAME)
    (folder / "player.ann.ini").write_text(
        "averageTime=9 s\nplayerName=ann\nlast.time=1:02\ntotal.timeMS=62000\n"
    )
    for games in (4, 5):
        await play(
            tmp_path,
            BoatRoomSettings(title="Tea", boats="A5 B4", goal=1),
            fleet="AAAAA.BBBB",
            boats_dir=str(folder),
        )
        written = (folder / "game.Tea.ini").read_text().splitlines()
        for line in NEWER_GAME.splitlines():
            if "ime" in line or line.startswith(("unknown", "ship", "player.ann.note")):
                assert line in written
        assert f"gameCount={games}" in written and "player.ann.total.turns=120" not in written
        assert not any(line.startswith("boat=") for line in written)
        ann = (folder / "player.ann.ini").read_text().splitlines()
        assert {
            "averageTime=9 s",
            "last.time=1:02",
            "total.timeMS=62000",
            f"gamesPlayed={games - 3}",
        } < set(ann)


async def test_an_imported_player_has_as_many_games_as_it_played_itself(tmp_path: Path) -> None:
    folder = tmp_path / "db"
    folder.mkdir()
    (folder / "game.Tea.ini").write_text(ORIGINAL_GAME)
    (folder / "player.a.b.ini").write_text("playerName=a.b\ngamesPlayed=2\n")
    async with boat_server(tmp_path, boats_dir=str(folder)) as house:
        lines = await house.arena.store.notes(GAMES)
    assert (lines["Tea"]["gameCount"], lines["Tea|a.b"]["total.games"]) == (3, 2)


async def test_a_player_of_the_originals_has_as_many_games_as_the_title_had(tmp_path: Path) -> None:
    folder = tmp_path / "db"
    folder.mkdir()
    (folder / "game.Tea.ini").write_text(ORIGINAL_GAME.replace("a.b", "ann"))
    (folder / "game.Odd.ini").write_text("name=Odd\nplayer.ann.total.turns=7\n")
    for games in (4, 5):
        game, _ = await play(tmp_path, BoatRoomSettings(title="Tea", goal=1), boats_dir=str(folder))
        assert (game["player.ann.total.games"], game["player.ann.total.turns"]) == (
            games,
            117 + games,
        )
    async with boat_server(tmp_path) as house:
        lines = await house.arena.store.notes(GAMES)
        assert (lines["Tea|bob"]["total.games"], lines["Odd|ann"]["total.games"]) == (2, 0)


async def test_a_folder_that_cannot_be_written_disturbs_no_game(tmp_path: Path) -> None:
    (tmp_path / "db").write_text("not a folder")
    game, _ = await play(
        tmp_path, BoatRoomSettings(title="Tea", goal=1), boats_dir=str(tmp_path / "db")
    )
    assert game["gameCount"] == 1


def test_names_of_files_are_harmless(tmp_path: Path) -> None:
    names = ["../../etc/passwd", "a/b", "Cap'n R.", "..", "caf\xe9", "x" * 300, "nul\0", "con:"]
    write_files(tmp_path, {("player", name): {"playerName": name} for name in names})
    assert len(list(tmp_path.iterdir())) == len(names)
    assert all(file.parent == tmp_path for file in tmp_path.iterdir())
    assert file_name("game", "Two words!") == "game.Two words!.ini"
    assert len(file_name("player", "\u20ac" * 500)) < 255


@pytest.mark.parametrize("name", ["Jos\xe9", "x  y", "a=b", "a.total.b", "n\x85l", "ann\xa0"])
def test_names_are_read_as_they_were_written(tmp_path: Path, name: str) -> None:
    lines = {"name": "Tea", f"player.{name}.total.turns": 7, f"player.{name}.last.firstPlace": True}
    write_files(
        tmp_path, {("game", "Tea"): lines, ("player", name): {"playerName": name, "gamesPlayed": 7}}
    )
    games, players = read_folder(tmp_path)
    assert games[f"Tea|{name}"] == {"total.turns": 7, "last.firstPlace": True}
    assert players == {name: {"playerName": name, "gamesPlayed": 7}}


def test_files_of_the_original_need_not_be_utf_8(tmp_path: Path) -> None:
    (tmp_path / "player.x.ini").write_bytes(b"gamesPlayed=7\nplayerName=Jos\xe9\n")
    assert read_folder(tmp_path)[1] == {"Jos\xe9": {"playerName": "Jos\xe9", "gamesPlayed": 7}}


def test_a_value_cannot_break_out_of_its_line() -> None:
    assert written({"b": True, "a": "x\ny=z", "c": ["1", "2"]}) == "a=x y=z\nb=true\nc=1\nc=2\n"
