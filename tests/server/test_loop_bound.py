"""No callback on the event loop uses more than 5 ms of CPU time, for any request."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from msgspec.structs import asdict

from botdrome.app import RunningServer
from botdrome.bots.house import HOUSE
from botdrome.catalogue import CATALOGUE
from botdrome.games.options import with_options
from botdrome.server.lobby.house import HouseSeat
from botdrome.server.rooms.duel import PLAYERS, DuelRecord
from botdrome.server.tables.table import Subscriber, Table
from botdrome.store.entries import BotEntry, Finish, Note
from botdrome.store.store import open_store
from tests.api.tables import NOON, entry_of, played_by_the_house
from tests.patience import until
from tests.server.clients import registered, server
from tests.server.loop_meter import shortest
from tests.server.operations import OPERATIONS, Operation, Target

pytestmark = pytest.mark.anyio

TRIES = 40
MATCHES, BOTS, DUELLISTS, LIVE = 1500, 1200, 1200, 250
CUP = "cup "


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


async def _fill(house: RunningServer) -> None:
    store = house.arena.store
    await played_by_the_house(store, entry_of("m0", "Ann", "Bob", game="gomoku"))
    entry, record = await store.match("m0"), await store.record("m0")
    assert entry is not None and entry.view is not None and record is not None
    for number in range(1, MATCHES):
        store.begin(
            entry_of(
                f"m{number}",
                "Ann",
                "Bob",
                game="gomoku",
                contest=f"cup {number % 300}",
                started=NOON + number,
            )
        )
        finish = store.finish(
            Finish(
                f"m{number}", "ended", NOON + number, entry.result, entry.view, record, (b"", b"")
            )
        )
    await finish
    for number in range(BOTS):
        bot = store.register(BotEntry(f"bot {number}", "gomoku", "somebody", NOON + number, None))
        await bot
    row = CATALOGUE["gomoku"]
    for number in range(LIVE):
        house.desk.tables.set_table(
            row.game,
            row.terms,
            (f"one {number}", f"two {number}"),
            ("", ""),
            contest=f"{CUP}{number}",
        )


@pytest.fixture(scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningServer]:
    folder: Path = tmp_path_factory.mktemp("bound")
    ports = {"duel_port": -1, "boats_port": -1, "boats_host_token": "host"}
    store = await open_store(f"sqlite:///{folder / 'test.db'}")
    await store.keep(
        [
            Note(PLAYERS, f"duellist {number}", asdict(DuelRecord(wins=number)))
            for number in range(DUELLISTS)
        ]
    )
    await store.close()
    async with server(folder, http_rate=0, **ports) as house:
        await _fill(house)
        yield house


@pytest.fixture(scope="module")
async def target(house: RunningServer) -> Target:
    logins = {game: await registered(house, f"tester of {game}", game) for game in CATALOGUE}
    return Target(house.port, house.ports, logins, "host")


def _begun(house: RunningServer) -> list[Table]:
    """The tables that tries have set, until their results are stored."""
    tables = house.desk.tables._tables.values()
    return [table for table in tables if not (table.entry.contest or "").startswith(CUP)]


async def _bounded(house: RunningServer, act: Callable[[], Awaitable[None]]) -> None:
    """Matches that a try has begun end before the next one."""

    async def ended() -> None:
        for table in _begun(house):
            table.abort("the next try")
        await until(lambda: not _begun(house))

    best = await shortest(act, TRIES, ended)
    assert best.bounds <= 1, str(best)


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
async def test_an_operation_blocks_the_loop_for_5_ms_at_most(
    house: RunningServer, target: Target, operation: Operation
) -> None:
    await _bounded(house, lambda: asyncio.to_thread(operation, target))


async def _played(house: RunningServer, table: Table) -> None:
    over = asyncio.Event()
    table.subscribe(Subscriber(over=lambda _: over.set()))
    house.desk.tables.start_table(table, [None] * len(table.entry.players), 0.0)
    await over.wait()


async def test_a_match_of_64_house_bots_from_its_start_to_its_end(house: RunningServer) -> None:
    row = CATALOGUE["battlecube"]

    async def play() -> None:
        game = with_options(row.game, {"ticks": 10})
        table = house.desk.tables.set_table(
            game, row.terms, tuple(f"bot {number}" for number in range(64)), ("",) * 64
        )
        for number in range(64):
            HouseSeat(house.desk.workers, table, number, HOUSE["battlecube"]["random"]).sit_down()
        await _played(house, table)

    await _bounded(house, play)


async def test_the_end_of_a_long_match(house: RunningServer) -> None:
    """6 MB of record and full flight records."""
    row = CATALOGUE["battlecube"]
    move = [{"task": "MOVE", "direction": "+X"}, {"task": "NOOP"}] * 1

    async def play() -> None:
        game = with_options(row.game, {"ticks": 20_000, "edge": 1000, "tasks": 2})
        table = house.desk.tables.set_table(game, row.terms, ("one", "two"), ("", ""))
        message = json.dumps(move).encode()
        house.desk.tables.start_table(table, [None, None], 0.0)
        await until(lambda: table.open)
        over = asyncio.Event()
        table.subscribe(Subscriber(over=lambda _: over.set()))
        while table.match.result is None and table.match.steps < 20_000:
            for player in tuple(table.match.awaited):
                table.submit(player, move, message)
            await asyncio.sleep(0)
        table.abort("enough")
        await over.wait()

    await _bounded(house, play)
