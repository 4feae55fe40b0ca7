"""Bots on lines and bots on WebSockets at one table, with a spectator."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from botdrome.app import RunningServer
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from botdrome.store.entries import Wanted
from tests.patience import until
from tests.server.clients import PATIENCE, Client, bot, client, leap, registered
from tests.server.rooms.boats.clients import BOARD, FLEET, Line, boat_server, line, sailor, the_room

pytestmark = pytest.mark.anyio

SHOTS = [*FLEET, *((x, y) for y in range(1, 11) for x in range(1, 11) if (x, y) not in FLEET)]


HOUR = 3600.0


@asynccontextmanager
async def waiting_bot(house: RunningServer, login: dict[str, Any]) -> AsyncIterator[Client]:
    """A native bot that waits at the desk."""
    waits = asyncio.Event()
    house.desk.on_wait(lambda _: waits.set())
    async with bot(house, login) as native:
        await asyncio.wait_for(waits.wait(), PATIENCE)
        yield native


async def play_on_lines(one: Line, name: str) -> list[str]:
    """Shoot at the next opponent, one square after the other, and return the last lines."""
    target, shots = "", 0
    while not (message := await one.receive()).startswith("F|"):
        kind, *words = message.split("|")
        if kind == "S":
            target = words[(words.index(name) + 1) % len(words)]
        elif message == f"N|{name}":
            x, y = SHOTS[shots]
            one.send(f"S|{target}|{x}|{y}")
            shots += 1
    return [message, *await one.rest()]


async def play_natively(one: Client) -> Any:
    """The same over JSON; the last state, with the keys of the last shot of each player."""
    shots, shots_told = 0, {}
    while (state := (message := await one.receive())["state"])["result"] is None:
        seats = len(state["boards"])
        if "turn" in message:
            shots_told[message["turn"]["name"]] = message["turn"].keys()
        if state["you"] in state["toMove"]:
            if state["phase"] == "placement":
                await one.send({"board": BOARD})
            else:
                x, y = SHOTS[shots]
                await one.send({"target": (state["you"] + 1) % seats, "x": x - 1, "y": y - 1})
                shots += 1
    return state | {"shots": shots_told}


async def watched(house: RunningServer) -> list[Any]:
    """Everything that a spectator of the only match is shown."""
    (live,) = house.desk.tables.live()
    async with client(house, f"/watch/{live.id}") as spectator:
        return (await spectator.until_closed())[0]


@pytest.mark.parametrize(("on_lines", "native"), [(1, 1), (2, 2), (1, 3), (3, 1)])
async def test_they_play_at_one_table(tmp_path: Path, on_lines: int, native: int) -> None:
    players = on_lines + native
    async with (
        boat_server(tmp_path, BoatRoomSettings(max=players)) as house,
        AsyncExitStack() as stack,
    ):
        logins = [
            await registered(house, f"native{number}", "battleship") | {"players": players}
            for number in range(native)
        ]
        natives = [await stack.enter_async_context(bot(house, login)) for login in logins]
        lines = [
            await stack.enter_async_context(sailor(house, f"line{number}"))
            for number in range(on_lines)
        ]
        playing = [
            asyncio.create_task(play_on_lines(one, f"line{number}"))
            for number, one in enumerate(lines)
        ]
        first = await natives[0].receive()
        assert sorted(first["state"]["bots"]) == sorted(
            [f"line{n}" for n in range(on_lines)] + [f"native{n}" for n in range(native)]
        )
        watching = asyncio.create_task(watched(house))
        await until(lambda: house.desk.tables.live()[0].spectators)
        await natives[0].send({"board": BOARD})
        async with asyncio.timeout(3 * PATIENCE):
            states = await asyncio.gather(*map(play_natively, natives))
            endings = await asyncio.gather(*playing)
            shown = await watching
        assert endings[0][0] == f"F|finished|17|{players}"
        assert all(ending == endings[0] for ending in endings)
        assert sorted(row.split("|")[2] for row in endings[0][1:]) == ["17"] * players
        assert states[0]["scores"] == [17] * players
        assert len(states[0]["shots"]) == players
        assert all({"target", "x", "y"} <= keys for keys in states[0]["shots"].values())
        assert shown[-1]["event"]["event"] == "ended"
        assert shown[-1]["view"]["scores"] == [17] * players
        (match,) = await house.arena.store.matches(Wanted())
        assert match.status == "ended"


async def test_those_on_lines_hear_of_the_others_right_before_the_start(tmp_path: Path) -> None:
    async with boat_server(tmp_path) as house, sailor(house, "ann") as ann:
        login = await registered(house, "a name that no line can carry", "battleship") | {
            "players": 2
        }
        async with bot(house, login) as native:
            await ann.expect("J|a name tha")
            while (await native.receive())["state"]["phase"] != "placement":
                pass
            ann.send("S|a name tha|1|1")
            await ann.expect("M||game hasn't started")
            await native.send({"board": BOARD})
            names = {"ann", "a name tha"}
            assert {
                (await ann.receive()).split("|")[1],
                (await ann.receive()).split("|")[1],
            } == names
            assert set((await ann.receive()).split("|")[1:]) == names


async def test_options_may_be_said_in_another_way_and_must_be_the_same(tmp_path: Path) -> None:
    plan = BoatRoomSettings(width=12, height=12)
    async with boat_server(tmp_path, plan) as house, line(house) as one:
        names = {
            "usual": {},
            "other": {"width": 12},
            "same": {"width": 12, "height": "12", "rounds": 1000},
        }
        logins = {name: await registered(house, name, "battleship") for name in names}
        await one.receive()
        one.send("J|ann|" + "AAAAABBBBCCC" + "DDDEE......." + "." * 120)
        await one.expect("J|ann")
        async with AsyncExitStack() as stack:
            for name, options in names.items():
                await stack.enter_async_context(
                    bot(house, logins[name] | {"players": 2, "options": options})
                )
            await one.expect("J|same")


async def test_a_native_bot_that_goes_and_comes_back(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, BoatRoomSettings(absence=100)) as house,
        sailor(house, "ann") as ann,
    ):
        login = await registered(house, "robot", "battleship") | {"players": 2}
        async with bot(house, login) as native:
            await native.receive()
            await native.send({"board": BOARD})
            await ann.until("N|")
        assert (await ann.receive()).startswith("B|robot|disconnected|")
        (live,) = house.desk.tables.live()
        async with bot(house, login | {"match": live.id}):
            await ann.expect(f"B|robot||{'.' * 100}|0|0", "M||robot reconnected|All")
            ann.send("M|robot|hello", "M||all", "P|done")
            await ann.expect("P|done")


async def test_who_leaves_while_the_others_place_their_fleets_is_absent_at_the_start(
    tmp_path: Path,
) -> None:
    async with (
        boat_server(tmp_path, BoatRoomSettings(max=3, absence=100)) as house,
        sailor(house, "ann") as ann,
        sailor(house, "bob") as bob,
    ):
        login = await registered(house, "robot", "battleship") | {"players": 3}
        async with bot(house, login) as native:
            await ann.until("J|robot")
            await native.receive()
            await bob.close()
            await until(lambda: the_room(house).games[0].absent)
            async with line(house) as again:
                await again.receive()
                again.send("J|bob")
                await again.expect("J|bob")
                others = {await again.receive(), await again.receive()}
                assert others == {"J|ann", "J|robot"}
                await again.expect("M||bob reconnected|All")
                await ann.expect("M||bob reconnected|All")
            await until(lambda: the_room(house).games[0].absent)
            await native.send({"board": BOARD})
            started = await ann.until("S|")
            assert f"B|bob|disconnected|{'.' * 100}|0|0" in started


async def test_a_bot_does_not_meet_itself_and_a_host_of_its_own_recruits_nobody(
    tmp_path: Path,
) -> None:
    plans = (BoatRoomSettings(), BoatRoomSettings(title="By hand", auto_start=False))
    async with boat_server(tmp_path, *plans) as house, line(house) as one, line(house) as two:
        login = await registered(house, "robot", "battleship") | {"players": 2}
        async with bot(house, login):
            for each, title in ((one, "Botdrome"), (two, "By hand")):
                await each.receive()
                each.send(f"G|{title}")
                await each.until("G|")
            one.send(f"J|robot|{BOARD}|{login['password']}")
            await one.expect("J|robot")
            two.send(f"J|ann|{BOARD}")
            await two.expect("J|ann")
            assert not house.desk.tables.live()


async def test_the_house_takes_the_seats_of_those_who_do_not_come(tmp_path: Path) -> None:
    plan = BoatRoomSettings(max=3, width=8, height=8, boats="A3 B2", house_wait=0)
    async with boat_server(tmp_path, plan, house_fill=True) as house, line(house) as one:
        await one.receive()
        one.send("J|ann|" + "AAA.....BB" + "." * 54)
        target, shots = "", 0
        while not (message := await one.receive()).startswith("F|"):
            kind, *words = message.split("|")
            if kind == "S":
                target = words[(words.index("ann") + 1) % 3]
            elif message == "N|ann":
                one.send(f"S|{target}|{shots % 8 + 1}|{shots // 8 + 1}")
                shots += 1
        results = await one.rest()
        assert message.startswith("F|finished|") and message.endswith("|3") and len(results) >= 3
        (entry,) = await house.arena.store.matches(Wanted())
        assert (
            sum(name.startswith("house:") for name in entry.players) == 2 and "ann" in entry.players
        )


@pytest.mark.parametrize("first", ["line", "native"])
async def test_those_who_wait_meet_before_the_house_steps_in(tmp_path: Path, first: str) -> None:
    """A table for three: one on lines, one on a WebSocket, and the house takes the last seat."""
    plan = BoatRoomSettings(max=3, house_wait=HOUR)
    async with (
        boat_server(tmp_path, plan, house_fill=True, house_wait=HOUR) as house,
        AsyncExitStack() as stack,
    ):
        login = await registered(house, "native", "battleship") | {"players": 3}
        if first == "native":
            native = await stack.enter_async_context(waiting_bot(house, login))
        boat = await stack.enter_async_context(sailor(house, "line"))
        if first == "line":
            native = await stack.enter_async_context(waiting_bot(house, login))
        leap(HOUR)
        playing = asyncio.create_task(play_on_lines(boat, "line"))
        state = (await native.receive())["state"]
        assert sorted(state["bots"]) == ["house:trawler", "line", "native"]
        await native.send({"board": BOARD})
        async with asyncio.timeout(PATIENCE):
            state = await play_natively(native)
            ending = await playing
        assert state["result"] is not None
        assert ending[0].startswith("F|finished|")


async def nothing_started(one: Line, *told: str) -> None:
    """All timers that are due have run."""
    one.send("P|still waiting")
    await one.expect(*told, "P|still waiting")


async def test_each_player_that_joins_lets_the_others_wait_for_the_next_again(
    tmp_path: Path,
) -> None:
    plan = BoatRoomSettings(max=4, house_wait=HOUR)
    async with boat_server(tmp_path, plan, house_fill=True) as house, AsyncExitStack() as stack:
        lines = []
        for number in range(3):
            lines.append(await stack.enter_async_context(sailor(house, f"line{number}")))
            leap(0.7 * HOUR)
            await nothing_started(lines[0], *[f"J|line{number}"] * (number > 0))
        leap(HOUR)
        order = (await lines[0].until("S|"))[-1].split("|")[1:]
        assert sorted(order) == ["line0", "line1", "line2", "trawler"]
        assert len(house.desk.tables.live()) == 1


async def test_clients_that_join_and_leave_do_not_prolong_the_wait_without_end(
    tmp_path: Path,
) -> None:
    plan = BoatRoomSettings(max=3, house_wait=HOUR)
    async with boat_server(tmp_path, plan, house_fill=True) as house, sailor(house, "ann") as ann:
        for _ in range(2):
            leap(0.9 * HOUR)
            async with sailor(house, "bob"):
                pass
            await ann.expect("J|bob", "L|bob|")
            await nothing_started(ann)
        leap(0.3 * HOUR)
        assert sorted((await ann.until("S|"))[-1].split("|")[1:]) == ["ann", "trawler", "trawler2"]


@pytest.mark.parametrize("stays", [True, False])
async def test_a_native_bot_waits_as_long_as_the_players_of_the_room(
    tmp_path: Path, stays: bool
) -> None:
    plan = BoatRoomSettings(max=3, house_wait=HOUR)
    async with boat_server(tmp_path, plan, house_fill=True, house_wait=0.5 * HOUR) as house:
        login = await registered(house, "native", "battleship") | {"players": 3}
        async with sailor(house, "ann") as ann, waiting_bot(house, login) as native:
            leap(0.7 * HOUR)
            await nothing_started(ann)
            if not stays:
                gone = asyncio.Event()
                the_room(house).on_change.add(gone.set)
                await ann.close()
                await asyncio.wait_for(gone.wait(), PATIENCE)
            leap(HOUR)
            bots = (await native.receive())["state"]["bots"]
            assert (
                sorted(bots) == ["ann", "house:trawler", "native"] if stays else "ann" not in bots
            )


async def test_the_house_lets_two_meet_who_wait_at_the_same_time(tmp_path: Path) -> None:
    async with boat_server(tmp_path, house_fill=True, house_wait=1000.0) as house:
        login = await registered(house, "native", "battleship")
        async with bot(house, login) as native, sailor(house, "line"):
            assert sorted((await native.receive())["state"]["bots"]) == ["line", "native"]
