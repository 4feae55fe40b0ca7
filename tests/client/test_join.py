"""A bot joins a real server: it plays match after match, survives lost connections and failures,
and stops when it should.
"""

import asyncio
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from botdrome.bots.house import house_bots, seated
from botdrome.catalogue import CATALOGUE, restored
from botdrome.client.join import Unwelcome
from botdrome.match.record import replay
from botdrome.offline.remote_player import FunctionPlayer
from botdrome.offline.seats import FunctionSeat
from botdrome.store.entries import Wanted
from tests.client.joining import joining
from tests.client.relay import relay
from tests.patience import PAUSE, until
from tests.server.clients import NOTICES, PATIENCE, bot, registered, server, unhurried

pytestmark = pytest.mark.anyio
ENOUGH = 2
"""Views after which a witness fails. Every game asks a player more often, Battlecube in a large cube.
"""


class Enough(Exception):
    pass


def first_free(view: Any) -> Any:
    free = [
        [row, column] for row in range(3) for column in range(3) if not view["board"][row][column]
    ]
    return {"mark": view["marks"][view["you"]], "space": free[0]}


class Witness:
    """Plays as a house bot, keeps the views, and fails after some of them."""

    def __init__(self, game: str, enough: int = ENOUGH) -> None:
        self._enough = enough
        self._bot = seated(house_bots(game)["random"], 1)
        self.views: list[Any] = []

    def __call__(self, view: Any) -> Any:
        if len(self.views) == self._enough:
            raise Enough
        self.views.append(view)
        return self._bot(view)


@pytest.fixture(autouse=True)
def _no_hurry() -> Iterator[None]:
    """A process may take longer than 5 s for its first move."""
    with unhurried("noughts-and-crosses"):
        yield


@pytest.mark.parametrize("game", CATALOGUE)
async def test_a_function_sees_the_views_that_it_sees_offline(tmp_path: Path, game: str) -> None:
    async with server(tmp_path) as house:
        witness = Witness(game)
        large: Any = {"options": {"edge": 1000}} if game == "battlecube" else {}
        join, shown = await joining(house, witness, game, opponent="house:random", **large)
        await asyncio.wait_for(join.run(), PATIENCE)
        (player,) = shown.players
        assert (
            player.fault.startswith("crash: Enough")
            and "resigned: crash: Enough" in player.ending.headline
        )
        data = await house.arena.store.record(player.match)
        assert data is not None
        record, rules = restored(data)
        seen = [
            position.view(seat)
            for _, news in replay(record, rules)
            for _, position in news
            for seat in range(2)
        ]
        offline = [json.loads(json.dumps(view)) for view in seen]
        assert len(witness.views) == ENOUGH
        assert all(view in offline for view in witness.views)
        assert not any("legal" in view for view in witness.views)


async def test_a_bot_plays_match_after_match_on_one_connection(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        join, shown = await joining(house, first_free, opponent="house:random", games=3)
        await asyncio.wait_for(join.run(), PATIENCE)
        assert [len(player.ending.places) for player in shown.players] == [2, 2, 2]
        assert len({player.match for player in shown.players}) == 3
        assert shown.said == ["ada waits for house:random"], "it logged in once"


PROGRAM = """
import json, sys
print(json.dumps({"gameType": "NOUGHTS_AND_CROSSES", "name": "whoever"}), flush=True)
for line in sys.stdin:
    with open(sys.argv[1], "a") as file:
        file.write(line)
    message = json.loads(line)
    name = message.get("name", globals().get("name"))
    state = message.get("state")
    if state and name in state["waitingFor"]:
        free = [[row, column] for row in range(3) for column in range(3) if not state["board"][row][column]]
        print(json.dumps({"mark": "X" if state["marks"]["X"] == name else "O", "space": free[0]}), flush=True)
"""


async def test_a_program_gets_the_messages_that_it_gets_offline(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(PROGRAM)
    log = tmp_path / "messages"
    async with server(tmp_path) as house:
        join, shown = await joining(
            house, f"cmd:{sys.executable} {tmp_path}/bot.py {log}", opponent="house:random", games=2
        )
        await asyncio.wait_for(join.run(), PATIENCE)
        assert [player.fault for player in shown.players] == ["", ""]
        results = [entry.result for entry in await house.arena.store.matches(Wanted())]
        assert [result.causes for result in results if result] == [("complete", "complete")] * 2
    messages = [json.loads(line) for line in log.read_text().splitlines()]
    greetings = [number for number, message in enumerate(messages) if "authentication" in message]
    assert len(greetings) == 2, "each match has a new program"
    assert messages[0] == {"authentication": "OK", "gameType": "NOUGHTS_AND_CROSSES", "name": "ada"}
    assert (
        messages[1]["state"]["result"] is None
        and messages[-1]["state"]["result"]["reason"] == "complete"
    )


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("raise SystemExit('boom')", "crash: it ended with status 1: boom"),
        ("print('hello', flush=True); input()", "unreadable: "),
        (
            "import sys; sys.stdin.readline(); print('1\\n' * 2000, flush=True); input()",
            "flood: more than 1000 lines at once",
        ),
        (
            "import sys; sys.stdin.readline(); print('[' + '0,' * 40000 + '0]', flush=True); input()",
            "unreadable: a move of 80003 bytes; at most 60000 are sent",
        ),
    ],
)
async def test_a_program_that_fails_resigns_and_the_next_match_begins(
    tmp_path: Path, code: str, fault: str
) -> None:
    (tmp_path / "bot.py").write_text(code)
    async with server(tmp_path, message_rate=1e6, message_burst=10**6) as house:
        join, shown = await joining(
            house, f"cmd:{sys.executable} {tmp_path}/bot.py", opponent="house:random", games=2
        )
        await asyncio.wait_for(join.run(), PATIENCE)
        assert [player.fault.startswith(fault) for player in shown.players] == [True, True]
        results = [entry.result for entry in await house.arena.store.matches(Wanted())]
        assert [result.causes[0] for result in results if result] == ["resigned"] * 2


@pytest.mark.parametrize(
    ("move", "fault"),
    [
        ("y" * 100_000, "unreadable: a move of 100012 bytes; at most 60000 are sent"),
        ([[]] * 12_000, "unreadable: a move that no server reads: it has more than 6000 values"),
    ],
)
async def test_a_move_that_no_server_takes_is_a_loss_and_no_lost_connection(
    tmp_path: Path, move: Any, fault: str
) -> None:
    async with server(tmp_path) as house:
        join, shown = await joining(house, lambda _: move, opponent="house:random")
        await asyncio.wait_for(join.run(), PATIENCE)
        assert [player.fault.startswith(fault) for player in shown.players] == [True]
        (entry,) = await house.arena.store.matches(Wanted())
        assert entry.result is not None and entry.result.causes[0] == "resigned"


async def test_a_bot_that_fails_in_three_matches_in_a_row_stops(tmp_path: Path) -> None:
    def broken(view: Any) -> Any:
        raise ValueError("boom")

    async with server(tmp_path) as house:
        join, shown = await joining(house, broken, opponent="house:random", games=None)
        with pytest.raises(Unwelcome, match="the bot failed in 3 matches in a row"):
            await asyncio.wait_for(join.run(), PATIENCE)
        headlines = {player.ending.headline.partition(" (line ")[0] for player in shown.players}
        assert headlines == {"lost at step 0: resigned: crash: ValueError: boom"}
        assert "ValueError: boom (line " in shown.players[0].fault


async def test_a_bot_that_is_refused_may_try_again_as_offline(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        join, shown = await joining(house, lambda view: 7, opponent="house:random")
        await asyncio.wait_for(join.run(), PATIENCE)
        (player,) = shown.players
        assert player.ending.headline.startswith("lost at step 0: ")
        assert player.ending.headline.endswith(", third illegal move")


async def test_a_bot_returns_to_its_match(tmp_path: Path) -> None:
    with unhurried("battleship"):
        async with server(tmp_path) as house, relay(int(house.url.rpartition(":")[2])) as between:
            witness, loop = Witness("battleship", 6), asyncio.get_running_loop()

            def cutting(view: Any) -> Any:
                if len(witness.views) == 3:
                    loop.call_soon_threadsafe(between.cut)
                return witness(view)

            join, shown = await joining(
                house, cutting, "battleship", url=between.url, opponent="house:random"
            )
            await asyncio.wait_for(join.run(), PATIENCE)
            (player,) = shown.players
            assert len(witness.views) == 6
            assert shown.said[-1] == f"returned to match {player.match}"


@pytest.mark.parametrize("known", [True, False])
async def test_a_match_that_ended_while_its_bot_was_away_is_over(
    tmp_path: Path, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bot is told the result if the server still knows the match.

    It plays its next match in any case.
    """
    async with server(tmp_path) as house, relay(int(house.url.rpartition(":")[2])) as between:
        calls, loop, store = 0, asyncio.get_running_loop(), house.arena.store

        def cut_off() -> None:
            between.passing.clear()
            between.cut()

        def cutting(view: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == 2:
                loop.call_soon_threadsafe(cut_off)
            return first_free(view)

        async def forgotten(match_id: str) -> None:
            return None

        join, shown = await joining(
            house, cutting, url=between.url, opponent="house:random", games=2
        )
        playing = asyncio.create_task(join.run())
        while not await store.count(Wanted(status="ended")):
            await asyncio.sleep(PAUSE)
        if not known:
            monkeypatch.setattr(store, "match", forgotten)
        between.passing.set()
        await asyncio.wait_for(playing, PATIENCE)
        first, second = shown.players
        assert (
            first.ending is not None and first.ending.headline.endswith(": disconnect")
        ) is known
        assert known or first.ending is None
        assert second.ending is not None


async def test_a_server_that_is_away_is_tried_again(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        join, shown = await joining(house, first_free)
        playing = asyncio.create_task(join.run())
        await until(lambda: shown.said)
    await until(lambda: shown.said[-1].startswith("not connected: "))
    assert shown.said[1] == "the server is stopping; again in 0.0 s"
    playing.cancel()


class SlowToClose(FunctionSeat):
    """A bot whose process takes its time to end."""

    def __init__(self) -> None:
        super().__init__(first_free, trusted=False)
        self.asked, self.held, self.closed = Event(), Event(), Event()

    def close(self) -> None:
        self.asked.set()
        self.held.wait(PATIENCE)
        self.closed.set()


async def test_a_bot_that_is_cancelled_waits_for_the_end_of_its_process(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        seat = SlowToClose()
        join, _ = await joining(house, seat, opponent="house:random")
        playing = asyncio.create_task(join.run())
        await until(seat.asked.is_set)
        playing.cancel()
        for _ in range(100):
            await asyncio.sleep(0)
        assert not playing.done()
        seat.held.set()
        await asyncio.wait([playing])
        assert playing.cancelled() and seat.closed.is_set()


async def test_a_process_ends_even_if_nobody_waits_for_it() -> None:
    """The bot is cancelled while the threads are busy with other bots."""
    seat, busy = SlowToClose(), Event()
    with ThreadPoolExecutor(1) as threads:
        threads.submit(busy.wait, PATIENCE)
        row = CATALOGUE["noughts-and-crosses"]
        closing = asyncio.ensure_future(FunctionPlayer(seat, row, "ada", {}, threads).close())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.wait([closing])
        seat.held.set()
        busy.set()
    assert seat.closed.is_set()


async def test_a_bot_plays_until_its_contest_is_over(tmp_path: Path) -> None:
    async with server(tmp_path, contest_games=1, contest_wait=0.0) as house:
        bots = [
            await joining(house, first_free, name=name, games=None, contest="cup")
            for name in ("ada", "bob")
        ]
        await asyncio.wait_for(asyncio.gather(*[join.run() for join, _ in bots]), PATIENCE)
        for _, shown in bots:
            assert len(shown.players) == 2
            assert shown.said[-1].startswith("the contest cup is over for ")


async def test_a_wait_that_is_too_long_for_the_server_goes_on(tmp_path: Path) -> None:
    async with server(tmp_path, limits_waiting=0.01) as house:
        join, shown = await joining(house, first_free)
        playing = asyncio.create_task(join.run())
        await until(lambda: len(shown.said) >= 3)
        assert set(shown.said) == {"ada waits for an opponent"}
        playing.cancel()


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"opponent": "house:kasparov"}, "there is no bot house:kasparov for noughts-and-crosses"),
        ({"opponent": "ada"}, "nobody plays against itself"),
        ({"options": {"size": 4}}, "size"),
    ],
)
async def test_a_wish_that_cannot_come_true_ends_the_command(
    tmp_path: Path, wanted: dict[str, Any], words: str
) -> None:
    async with server(tmp_path) as house:
        join, _ = await joining(house, first_free, **wanted)
        with pytest.raises(Unwelcome, match=words):
            await asyncio.wait_for(join.run(), PATIENCE)


async def test_a_bot_that_is_removed_by_the_operator_stays_away(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        join, shown = await joining(house, first_free)
        playing = asyncio.create_task(join.run())
        await until(lambda: shown.said)
        for client in house.desk.registry.clients.all:
            client.remove("you cheat")
        with pytest.raises(Unwelcome, match="you cheat"):
            await asyncio.wait_for(playing, PATIENCE)


async def test_the_last_match_is_played_to_its_end(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        join, shown = await joining(house, first_free, games=None)
        playing = asyncio.create_task(join.run())
        async with bot(house, await registered(house, "bob") | NOTICES) as bob:
            await bob.receive()
            await until(lambda: join.playing)
            join.stop_after_match()
        await asyncio.wait_for(playing, PATIENCE)
        (player,) = shown.players
        assert "the opponent is out: disconnect" in player.ending.headline
