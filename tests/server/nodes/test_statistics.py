"""Games that end at a drained node, while their rooms are open at another one, count there."""

import pytest

from botdrome.app import RunningServer
from botdrome.server.nodes.cluster import rooms_of
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from botdrome.server.rooms.boat_statistics import GAMES, PLAYERS
from botdrome.server.rooms.duel import DuelRoom
from botdrome.server.tables import statistics
from tests.patience import until
from tests.server.holding import hold_back
from tests.server.nodes.draining import drain, of
from tests.server.nodes.serving import home_of, nodes, spread_out
from tests.server.rooms.boats.clients import Line, boat_rooms, sailors
from tests.server.rooms.duel.clients import pair, play_rows

pytestmark = pytest.mark.anyio

PLAN = BoatRoomSettings(title="Tea", goal=1)


def has_open(one: RunningServer, game: str) -> bool:
    clients = of(one)._forwarder
    return clients is not None and clients.rooms[rooms_of(game)].open


async def sink(shooter: Line, other: Line, name: str) -> None:
    """The first player hits, which ends the game after this round."""
    shooter.send(f"S|{name}|6|3")
    await other.until(f"N|{name}")
    other.send("K")
    await shooter.until("F|")


async def test_boat_games_count_at_the_new_home(
    postgres_url: str, nats_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics, "LOOK", 0.01)
    async with nodes(postgres_url, nats_url, 2, boats_port=-1, boats_rooms=(PLAN,)) as two:
        await spread_out(two)
        old = home_of(two, "battleship")
        (new,) = [one for one in two if one is not old]
        books, store = boat_rooms(new).statistics, new.arena.store
        async with (
            sailors(old, "ann", "bob") as (ann, bob),
            sailors(old, "ann 2", "bob") as (ann_2, bob_2),
        ):
            with monkeypatch.context() as patched:
                held = hold_back(old.arena.store, patched)
                ann_2.send("S|bob|6|3")
                await bob_2.until("N|bob")
                bob_2.send("K")
                await held.next()
                await drain(old)
                await held.write()
            await until(lambda: has_open(new, "battleship"))
            await until(lambda: books.players.get("ann 2"))
            async with sailors(new, "ann", "cid") as (again, cid):
                await sink(again, cid, "cid")
            await until(lambda: books.players.get("ann"))
            await sink(ann, bob, "bob")
        await until(lambda: books.players["ann"]["gamesPlayed"] == 2)
        assert (books.games["Tea"]["gameCount"], books.players["bob"]["gamesPlayed"]) == (3, 2)
        assert (books.games, books.players) == (
            await store.notes(GAMES),
            await store.notes(PLAYERS),
        )


async def test_boards_of_duel_arena_count_at_the_new_home(
    postgres_url: str, nats_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics, "LOOK", 0.01)
    async with nodes(postgres_url, nats_url, 2, duel_port=-1) as two:
        await spread_out(two)
        old = home_of(two, "gomoku")
        (new,) = [one for one in two if one is not old]
        async with pair(old, "ada", "bob") as (one, other, question):
            await play_rows(one, other, question)
            await drain(old)
            await until(lambda: has_open(new, "gomoku"))
            table = new.server_of(DuelRoom).leaderboard
            assert (line := table.line(one.name)) and (line.wins, line.total_games) == (1, 1)
            await play_rows(other, one, await other.expect("get_move"))
        await until(lambda: (line := table.line(one.name)) and line.total_games == 2)
        assert (line := table.line(other.name)) and (line.wins, line.total_games) == (1, 2)
        assert [board.winner for board in await table.boards_of("ada")] == [other.name, one.name]
