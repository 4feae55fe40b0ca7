"""The duel arena shows only stored data: boards, the Elo table, and unique ids."""

import asyncio
import re
import signal
from pathlib import Path
from typing import Any

import httpx
import pytest

from botdrome.app import RunningServer
from botdrome.server.rooms import duel
from botdrome.server.rooms import duel as duel_table
from botdrome.server.rooms.duel import ENTRIES
from botdrome.store.entries import Note, Unstorable
from botdrome.store.store import open_store
from tests.patience import until
from tests.server.holding import hold_back, notes_of
from tests.server.rooms.duel.clients import (
    FIND,
    Duellist,
    arena,
    arrive,
    board_won_by,
    free,
    open_duel_leaderboard,
    pair,
    play_rows,
    seated,
    store_boards,
)
from tests.server.test_life import serving

pytestmark = pytest.mark.anyio

API = "/api/v1/duel/players"


async def shown(house: RunningServer) -> dict[str, tuple[int, int]]:
    """Score and boards of everybody."""
    async with httpx.AsyncClient(base_url=house.url) as http:
        players = (await http.get(API)).json()["players"]
    return {player["name"]: (player["score"], player["boards"]) for player in players}


async def play_but_hear_nothing(one: Duellist, two: Duellist, question: Any) -> None:
    """The board that the first of them wins, to its last stone."""
    for step in range(9):
        mover, other = (one, two) if step % 2 == 0 else (two, one)
        await mover.answer(question, step // 2, step % 2)
        if step < 8:
            question = await other.expect("get_move")


async def test_nothing_is_told_or_shown_before_it_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with arena(tmp_path) as house, pair(house) as (one, two, question):
        await until(lambda: house.arena.duel.players == 2)
        held = hold_back(house.arena.store, monkeypatch)
        await play_but_hear_nothing(one, two, question)
        for board, (winner, loser) in enumerate(((one, two), (two, one)), 1):
            finish = await held.next()
            heard = [asyncio.ensure_future(each.receive()) for each in (winner, loser)]
            before = {one.name: (board - 1, board - 1), two.name: (0, board - 1)}
            assert await shown(house) == before
            assert len(await house.arena.duel.boards_of(one.name)) == board - 1
            assert not any(message.done() for message in heard)
            await held.write()
            assert [(await message)["event"] for message in heard] == ["win", "lose"]
            assert [book for book, _ in notes_of(finish)] == [ENTRIES]
            if board == 1:
                await play_but_hear_nothing(two, one, await two.expect("get_move"))
        assert await shown(house) == {one.name: (1, 2), two.name: (1, 2)}
        assert [board.id for board in await house.arena.duel.boards_of(one.name)] == [2, 1]


async def test_nothing_remains_of_a_match_that_cannot_be_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with arena(tmp_path) as house, pair(house) as (one, two, question):
        await until(lambda: house.arena.duel.players == 2)
        held = hold_back(house.arena.store, monkeypatch)
        await play_but_hear_nothing(one, two, question)
        for _ in range(2):  # the board, then the match, which is aborted for it
            await held.write(Unstorable("it is too long"))
        assert await one.until_closed() == await two.until_closed() == []
        assert set((await shown(house)).values()) == {(0, 0)}
        entries = (await house.arena.store.notes(ENTRIES)).values()
        assert not any(entry["boards"] for entry in entries), "only the time of players is stored"


async def test_the_time_of_a_player_that_leaves_is_not_stored_over_its_last_board(
    tmp_path: Path,
) -> None:
    """Both are stored, and the table has not heard of the board: a server killed now loses nothing."""
    store = await open_store(f"sqlite:///{tmp_path / 'test.db'}")
    table = await open_duel_leaderboard(store)
    await arrive(table, "ada")
    await asyncio.gather(store.keep(table.enter("m", 1, [board_won_by(0)])), table.depart("ada"))
    after_a_kill = (await open_duel_leaderboard(store)).line("ada")
    await table.load()
    assert after_a_kill is not None and after_a_kill.wins == 1
    assert table.line("ada") == after_a_kill
    await store.close()


async def test_whoever_logged_in_stays_in_the_table(tmp_path: Path) -> None:
    async with arena(tmp_path) as house:
        async with free(house, "ada"):
            await until(lambda: house.arena.duel.line("ada"))
        await until(lambda: not house.arena.duel.online("ada"))
        assert await shown(house) == {"ada": (0, 0)}
    async with arena(tmp_path) as house:
        assert await shown(house) == {"ada": (0, 0)}
        line = house.arena.duel.line("ada")
        assert line is not None and line.total_seconds > 0


async def test_a_newcomer_is_shown_when_its_line_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with arena(tmp_path) as house:
        store, keep, go_on = house.arena.store, house.arena.store.keep, asyncio.Event()

        async def held(notes: list[Note], **other: Any) -> None:
            await go_on.wait()
            await keep(notes, **other)

        monkeypatch.setattr(store, "keep", held)
        async with free(house, "ada"):
            assert house.arena.duel.online("ada") and await shown(house) == {}
            go_on.set()
            await until(lambda: house.arena.duel.line("ada"))
            assert await shown(house) == {"ada": (0, 0)}


async def test_names_alone_do_not_fill_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duel_table, "MOST_NEWCOMERS", 2)
    store = await open_store(f"sqlite:///{tmp_path / 'test.db'}")
    table = await open_duel_leaderboard(store)
    for name in ("ada", "bob", "carl", "dora"):
        await arrive(table, name)
    assert [name for name, _ in table.lines(0, 9)] == ["ada", "bob"]
    await table.depart("dora")
    await store_boards(store, table, "m", 1, [board_won_by(1, names=("ada", "carl"))])
    assert [name for name, _ in table.lines(0, 9)] == ["carl", "ada", "bob"]
    await store.close()


async def test_time_that_could_not_be_stored_counts_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr(duel_table, "monotonic", lambda: clock[0])
    store = await open_store(f"sqlite:///{tmp_path / 'test.db'}")
    table = await open_duel_leaderboard(store)
    await arrive(table, "ada")
    clock[0] += 10
    table.enter("bad", 1, [board_won_by(0)])
    table.give_back_time("bad", 1)
    clock[0] += 10
    notes = table.enter("good", 1, [board_won_by(0)])
    assert (line := table.line("ada")) and line.total_seconds == 20
    clock[0] += 5
    await store.keep(notes)
    assert (line := table.line("ada")) and line.total_seconds == 25
    table.look()
    await table.folded()
    assert (line := table.line("ada")) and line.total_seconds == 25
    clock[0] += 5
    await table.depart("ada")
    assert (line := table.line("ada")) and line.total_seconds == 30, "stored, but not folded yet"
    await table.folded()
    assert (await store.notes("duel"))["ada"]["total_seconds"] == 30
    with pytest.raises(Exception, match="too long"):
        monkeypatch.setattr(store, "keep", refused)
        await arrive(table, "dora")
    assert table.line("dora") is None
    await store.close()


async def refused(notes: list[Note]) -> None:
    raise Unstorable("too long")


async def test_pairs_wait_while_there_are_no_ids_for_their_boards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store was down when more ids should have been reserved; only the waiting pairs can ask
    for them again.
    """
    async with arena(tmp_path) as house, free(house, "ada") as ada, free(house, "bob") as bob:
        await until(lambda: house.arena.duel.players == 2)
        hall: Any = house.server_of(duel.DuelRoom)
        hall._ids.take(hall._ids.left - duel.SPARE_IDS)
        with monkeypatch.context() as outage:
            outage.setattr(house.arena.store, "keep", refused)
            await ada.send(FIND)
            await bob.send(FIND)
            await until(lambda: hall._gathered)
        _, _, question = await seated(ada, bob)
        assert question["board"]["_id"] == duel.BLOCK - duel.SPARE_IDS + 1


async def test_a_board_outlives_a_killed_server_and_its_id_is_not_given_again(
    tmp_path: Path,
) -> None:
    """Killed between the result of the first board and the end of the second."""
    async with (
        serving(tmp_path, "--set", "duel_port=-1") as running,
        at(running.screen, "ada") as ada,
        at(running.screen, "bob") as bob,
    ):
        await ada.send(FIND)
        await bob.send(FIND)
        one, two, question = await seated(ada, bob)
        won, _ = await play_rows(one, two, question)
        second = await two.expect("get_move")
        before = await profile(running.url, one.name)
        assert await running.end(signal.SIGKILL) == -signal.SIGKILL
    async with serving(tmp_path, "--set", "duel_port=-1") as running:
        after = await profile(running.url, one.name)
        assert after["boards"] == before["boards"] and len(after["boards"]) == 1
        for one_of in (before, after):
            one_of["player"] = {
                key: one_of["player"][key]
                for key in ("name", "rating", "score", "losses", "boards")
            }
        assert after["player"] == before["player"] and after["player"]["score"] == 1
        assert (
            after["boards"][0]["id"] == won["board"]["_id"]
            and after["boards"][0]["winner"] == one.name
        )
        match = await get(running.url, f"/api/v1/matches/{after['boards'][0]['match']}")
        assert match["status"] == "aborted" and match["result"]["reason"] == "aborted"
        async with at(running.screen, "ada") as ada, at(running.screen, "bob") as bob:
            await ada.send(FIND)
            await bob.send(FIND)
            _, _, question = await seated(ada, bob)
            assert question["board"]["_id"] > second["board"]["_id"]


def at(screen: str, name: str) -> Any:
    """Somebody logged in where the screen of a server says."""
    found = re.search(r"duel arena.*127\.0\.0\.1:(\d+)", screen)
    assert found is not None, screen
    house: Any = type("Address", (), {"ports": {"duel": int(found[1])}})
    return free(house, name)


async def get(url: str, path: str) -> Any:
    async with httpx.AsyncClient(base_url=url.replace("ws", "http", 1)) as http:
        return (await http.get(path)).json()


async def profile(url: str, name: str) -> Any:
    return await get(url, f"{API}/{name}")
