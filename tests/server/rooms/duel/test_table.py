"""The table of duel arena's players: over the web, through a restart, and as the
original counts.
"""

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from botdrome.app import RunningServer
from botdrome.store.store import open_store
from tests.server.rooms.duel.clients import (
    FREE,
    Duellist,
    arena,
    board_won_by,
    connected,
    free,
    open_duel_leaderboard,
    pair,
    play_rows,
    store_boards,
)

pytestmark = pytest.mark.anyio

API = "/api/v1/duel/players"


async def get(house: RunningServer, path: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=house.url) as http:
        return await http.get(path)


async def play_out(one: Duellist, two: Duellist, question: Any) -> None:
    await play_rows(one, two, question)
    await play_rows(two, one, await two.expect("get_move"))
    assert [await each.receive() for each in (one, two)] == [FREE, FREE]


def cells(page: str) -> list[str]:
    """The page as the recordings have it: its words alone."""
    return (
        re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "|", page.partition("<table>")[2]))
        .strip("| ")
        .split("|")
    )


async def test_the_page_of_the_original(tmp_path: Path) -> None:
    """Each beginner wins its board, as in the recording: ratings 1199 and 1201, a score of 1 each,
    no invalid move.
    """
    async with arena(tmp_path) as house, pair(house, "alice", "<b>bob</b>") as (one, two, question):
        await play_out(one, two, question)
        async with free(house, "new"):
            while "new" not in cells((page := await get(house, "/duel/results_table")).text):
                pass  # a player is shown once it is stored
            assert page.headers["content-type"] == "text/html; charset=utf-8"
            words = [cell.strip() for cell in cells(page.text) if cell.strip()]
            assert words[:6] == [
                "User",
                "Rating",
                "Score",
                "Online Time",
                "Total Boards",
                "Invalid Moves",
            ]
            rows = {
                words[row + 1]: [words[row], *words[row + 2 : row + 7]]
                for row in range(6, len(words), 7)
            }
            ratings = {one.name: "1199", two.name: "1201"}
            for name, shown in ((one.name, one.name), (two.name, two.name), ("new", "new")):
                row = rows[shown.replace("<", "&lt;").replace(">", "&gt;")]
                assert re.fullmatch(r"\d\ds", row.pop(3))
                assert row == [
                    "[online]",
                    *([ratings[name], "1", "2", "0"] if name != "new" else ["1200", "0", "0", "0"]),
                ]
            assert "<b>bob</b>" not in page.text


async def test_the_same_as_json(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, pair(house) as (one, two, question):
        await play_out(one, two, question)
        answer = (await get(house, API)).json()
        assert answer["total"] == 2
        assert [player["name"] for player in answer["players"]] == ["ada", "bob"]
        page = (await get(house, f"{API}?limit=1&offset=1")).json()
        assert [player["name"] for player in page["players"]] == ["bob"] and page["total"] == 2
        profile = (await get(house, f"{API}/{two.name}")).json()
        player = profile["player"]
        assert player.pop("seconds") > 0
        assert round(player.pop("rating"), 2) == 1201.29
        counts = {"score": 1, "losses": 1, "draws": 0, "boards": 2, "invalid": 0}
        assert player == {"name": two.name, "online": True} | counts
        second, first = profile["boards"]
        assert (first["id"], first["crosses"], first["circles"], first["winner"]) == (
            1,
            one.name,
            two.name,
            one.name,
        )
        assert (second["id"], second["crosses"], second["circles"], second["winner"]) == (
            2,
            two.name,
            one.name,
            two.name,
        )
        assert (first["ratings"], second["ratings"], first["moves"]) == (
            [1200, 1200],
            [1185, 1215],
            9,
        )
        assert first["started"] <= first["ended"] <= second["started"] <= second["ended"]
        assert (await get(house, f"/api/v1/matches/{first['match']}")).json()["status"] == "ended"
        assert (await get(house, f"{API}/nobody")).status_code == 404


async def test_it_lasts_and_the_ids_of_boards_go_on(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, pair(house) as (one, two, question):
        await play_out(one, two, question)
        await house.arena.duel.folded()
        before = {name: house.arena.duel.line(name) for name in ("ada", "bob")}
    async with arena(tmp_path) as house:
        for name in ("ada", "bob"):
            line, old = house.arena.duel.line(name), before[name]
            assert line is not None and old is not None
            assert line.total_seconds >= old.total_seconds > 0
            assert (line.rating, line.wins, line.boards) == (old.rating, old.wins, old.boards)
            assert not house.arena.duel.online(name)
        assert "[offline]" in (await get(house, "/duel/results_table")).text
        async with pair(house) as (one, two, question):
            assert question["board"]["_id"] == 3
            await one.answer(question, 99, 99)
            await one.expect("invalid_move")
            await one.expect("lose")
            await two.expect("win")
            assert (await two.expect("get_move"))["board"]["_id"] == 4


@pytest.mark.parametrize("features", [{}, {"features": ["draw"]}])
async def test_a_full_board_counts_half(tmp_path: Path, features: dict[str, Any]) -> None:
    """Only clients that asked for draws get them; in the table a draw counts half a
    point for each.
    """
    async with arena(tmp_path) as house, pair(house, **features) as (one, two, question):
        await fill_the_board(one, two, question)
        if features:
            assert [len((await each.expect("draw"))["board"]["_moves"]) for each in (one, two)] == [
                225,
                225,
            ]
        await two.answer(await two.expect("get_move"), -1, 0)
        assert (await two.expect("invalid_move"))["x"] == -1
        await two.expect("lose")
        await one.expect("win")
        assert [await each.receive() for each in (one, two)] == [FREE, FREE]
        await house.arena.duel.folded()
        lines = [house.arena.duel.line(each.name) for each in (one, two)]
        assert [
            line
            and (
                line.rating,
                line.wins,
                line.losses,
                line.draws,
                line.total_games,
                line.invalid_moves,
            )
            for line in lines
        ] == [
            (1215, 1, 0, 1, 2, 0),
            (1185, 0, 1, 1, 2, 1),
        ]


async def test_a_newcomer_at_a_seat_is_told_of_draws_only_if_it_asked_itself(
    tmp_path: Path,
) -> None:
    """The clients of the original hang on an event that they do not know."""
    async with (
        arena(tmp_path) as house,
        pair(house, features=["draw"]) as (old, two, _),
        connected(house) as new,
    ):
        await new.send({"username": old.name})
        assert [await new.receive() for _ in range(2)] == [
            {"status": "ok"},
            {"event": "starting_game", "against": two.name},
        ]
        await fill_the_board(new, two, await new.expect("get_move"))
        await two.expect("draw")
        await two.answer(await two.expect("get_move"), 0, 0)
        await new.expect("get_move")


async def fill_the_board(one: Duellist, two: Duellist, question: Any) -> None:
    """Pairs of columns shifted in every other row: no player has more than two in a row."""
    crosses = [(x, y) for y in range(15) for x in range(15) if (x // 2 + y) % 2 == 0]
    circles = [(x, y) for y in range(15) for x in range(15) if (x // 2 + y) % 2 == 1]
    assert len(crosses) == 113 and len(circles) == 112
    for step in range(225):
        mover, other = (one, two) if step % 2 == 0 else (two, one)
        await mover.answer(question, *(crosses, circles)[step % 2][step // 2])
        if step < 224:
            question = await other.expect("get_move")


async def test_the_last_hundred_boards_are_kept(tmp_path: Path) -> None:
    store = await open_store(f"sqlite:///{tmp_path / 'test.db'}")
    table = await open_duel_leaderboard(store)
    for number in range(60):
        boards = [board_won_by(0, number)] * 2
        await store_boards(store, table, "m", 2 * number + 1, boards)
    kept = await table.boards_of("ada")
    assert [board.id for board in kept] == list(range(120, 20, -1))
    again = await open_duel_leaderboard(store)
    bob = again.line("bob")
    assert bob is not None and (bob.losses, bob.invalid_moves, bob.total_games) == (0, 120, 120)
    assert again.line("nobody") is None
    assert again.lines(0, 10) == table.lines(0, 10)
    await store.close()


async def test_an_aborted_match_keeps_the_boards_that_were_played(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, pair(house) as (one, two, question):
        await play_rows(one, two, question)
        await house.desk.close()
        assert [message["event"] for message in await two.until_closed()] == ["get_move"]
        await house.arena.duel.folded()
        lines = await house.arena.store.notes("duel")
        assert {name: (line["wins"], line["total_games"]) for name, line in lines.items()} == {
            one.name: (1, 1),
            two.name: (0, 1),
        }
        (board,) = await house.arena.duel.boards_of(two.name)
        entry = await house.arena.store.match(board.match)
        assert entry is not None and entry.result is not None and entry.status == "aborted"
        assert entry.result.boards[0].places in ((1, 2), (2, 1))


async def test_what_a_player_lost_by_going_is_on_disk(tmp_path: Path) -> None:
    """Its time is written after its boards were counted, not over them."""
    async with arena(tmp_path) as house, pair(house) as (one, two, _):
        await one.close()
        assert [(await two.receive())["event"] for _ in range(3)] == [
            "win",
            "win",
            "player_is_free",
        ]
        name = one.name
    async with arena(tmp_path) as house:
        line = house.arena.duel.line(name)
        assert line is not None and (line.total_games, line.invalid_moves, line.losses) == (2, 2, 0)
        assert line.total_seconds > 0
