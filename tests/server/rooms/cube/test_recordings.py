"""Games of the original Battlecube server, had again with ours: over a real socket, with bots that
answer as theirs did.
"""

import asyncio
import json
from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from botdrome.app import RunningServer
from tests.server.clients import PATIENCE, deaf_port, server
from tests.server.rooms.cube.clients import Asked, Bot, Organiser, Reply, bot, organiser

pytestmark = pytest.mark.anyio

HERE = Path(__file__).parent / "recordings"
RECORDINGS = sorted((Path(__file__).parents[3] / "games" / "battlecube").glob("*.jsonl"))
DIFFER = {"20-answer-bad-direction", "20-answer-unknown-task"}
"""Where the spec wants something else; they have tests of their own below."""
ALIKE = [path for path in RECORDINGS if path.stem not in DIFFER]
OURS = {"id", "key", "direction", "score"}
"""Keys that we add."""


class Recorded:
    def __init__(self, path: Path) -> None:
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        self.name = path.stem
        self.sent = [line for line in lines if line["kind"] == "sio_out"]
        self.events: list[tuple[str, Any]] = [
            (line["event"], line["args"][0]) for line in lines if line["kind"] == "sio_in"
        ]
        self.asked = [line for line in lines if line["kind"] == "http_req"]
        self.replies: dict[str, list[Any]] = {}
        for line in lines:
            if line["kind"] == "http_res":
                self.replies.setdefault(line["bot"], []).append(line)
        self.payload: Any = self.sent[0]["args"][0]

    def bot(self, name: str) -> Any:
        """Answers as the bot of that name did."""
        said_at = {line["n"]: line for line in self.replies.get(name, ())}
        ticks: dict[int, int] = {}

        async def answer(asked: Asked) -> Reply:
            """A question that comes again gets the same answer: a line that was dropped is tried
            once more.
            """
            said = said_at[ticks.setdefault(tick_of(asked.body), len(ticks))]
            return Reply(
                said.get("body_raw", "").encode(), said.get("status"), said.get("headers", {})
            )

        return answer


def once_lost(events: list[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """The original let a bot lose twice."""
    lost = set()
    for event, payload in events:
        if event != "PLAYER_LOST" or payload["name"] not in lost:
            yield event, payload
        if event == "PLAYER_LOST":
            lost.add(payload["name"])


def comparable(told: tuple[str, Any]) -> tuple[str, Any]:
    event, payload = told
    if event == "PLAYER_LOST":
        return event, {"name": payload["name"], "cause": readable(payload)}
    if event == "NEXT_TICK":
        return event, payload | {"gameInfo": without_id(payload["gameInfo"])}
    if event == "GAME_ENDED":
        scores = [plain_score(score) for score in payload["scores"]]
        winner = {"winner": plain_score(payload["winner"])} if "winner" in payload else {}
        return event, winner | {"scores": scores, "result": payload["result"]}
    return event, {key: value for key, value in payload.items() if key not in OURS}


def readable(payload: Any) -> Any:
    """The cause.

    An error object became an empty one; MOVE without a direction was one, too. Ours does not repeat
    the answer.
    """
    cause = payload["cause"]
    if cause == {} or "MOVE needs" in payload.get("details", ""):
        return "CONNECTION_ERROR"
    if isinstance(cause, dict) and isinstance(cause["details"], list):
        for element in cause["details"]:
            element["context"].pop("value", None)
    return cause


def without_id(info: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in info.items() if key != "id"}


def plain_score(score: dict[str, Any]) -> dict[str, Any]:
    return {"name": score["name"], "highScore": score["highScore"]}


def redirected(payload: Any, bots: dict[str, Bot]) -> Any:
    """The recorded game with the addresses of our bots; the path and the query stay."""
    players = []
    for player in payload["players"]:
        rest = player["url"].removeprefix("http://").partition("/")
        players.append(player | {"url": bots[player["name"]].url + rest[1] + rest[2]})
    return payload | {"players": players}


async def bots_of(recorded: Recorded, stack: AsyncExitStack) -> dict[str, Bot]:
    names = [player["name"] for player in recorded.payload["players"]]
    bots = {
        name: await stack.enter_async_context(bot(recorded.bot(name)))
        for name in names
        if name in recorded.replies
    }
    for name in set(names) - set(bots):
        bots[name] = Bot(recorded.bot(name))
        bots[name].port = stack.enter_context(deaf_port())
    return bots


async def test_the_recorded_games(tmp_path: Path) -> None:
    """All of them on one server, one after the other."""
    async with server(tmp_path) as house:
        for recording in ALIKE:
            await replay(house, Recorded(recording))


async def replay(house: RunningServer, recorded: Recorded) -> None:
    async with AsyncExitStack() as stack:
        bots = await bots_of(recorded, stack)
        client = await stack.enter_async_context(organiser(house))
        await client.emit("NEW_GAME", redirected(recorded.payload, bots))
        told = await play_along(client, recorded)
        assert list(map(comparable, told)) == list(map(comparable, once_lost(recorded.events))), (
            recorded.name
        )
        for name in recorded.replies:
            compare_calls(recorded, name, bots[name])


async def play_along(client: Organiser, recorded: Recorded) -> list[tuple[str, Any]]:
    """All events to the end. Later events of the recorded organiser are sent at the same point."""
    further, told = recorded.sent[1:], list[tuple[str, Any]]()
    while not told or told[-1][0] != "GAME_ENDED":
        told.append(await client.receive())
        if further and told[-1][0] == "NEXT_TICK" and told[-1][1]["gameInfo"]["currentTick"] == 2:
            await client.emit(further[0]["event"], further.pop(0)["args"][0])
    return told


def compare_calls(recorded: Recorded, name: str, ours: Bot) -> None:
    """The bot was asked the same questions at the same path, once for each."""
    theirs = [line for line in recorded.asked if line["bot"] == name]
    questions = list({tick_of(asked.body): asked for asked in ours.asked}.values())
    assert [asked.path for asked in questions] == [line["path"] for line in theirs]
    for asked, line in zip(questions, theirs, strict=True):
        body = json.loads(line["body_raw"])
        assert asked.method == "POST"
        assert asked.headers["content-type"] == "application/json"
        assert list(asked.body) == list(body)
        assert asked.body["gameInfo"].keys() == body["gameInfo"].keys()
        assert without_id(asked.body["gameInfo"]) == without_id(body["gameInfo"])
        assert asked.body["currentPlayer"]["name"] == name
        assert (asked.body["players"], asked.body["items"]) == (body["players"], body["items"])
    assert ours.connections == 1 + sum("dropped" in line for line in recorded.replies[name]), (
        "lines are kept"
    )


async def test_two_games_on_one_connection_have_ids_of_their_own(tmp_path: Path) -> None:
    recorded = Recorded(HERE / "40-two-games-one-socket.jsonl")
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(server(tmp_path))
        bots = await bots_of(recorded, stack)
        client = await stack.enter_async_context(organiser(house))
        for _ in range(2):
            await client.emit("NEW_GAME", redirected(recorded.payload, bots))
        told = await client.until("GAME_ENDED")
        told += await client.until("GAME_ENDED")
        ids = {payload["id"] for event, payload in told if event == "GAME_STARTED"}
        assert len(ids) == 2
        for game_id in ids:
            own = [
                one
                for one in told
                if one[1].get("id", one[1].get("gameInfo", {}).get("id")) == game_id
            ]
            assert list(map(comparable, own)) == list(
                map(comparable, recorded.events[:1] + one_game(recorded))
            )


def one_game(recorded: Recorded) -> list[tuple[str, Any]]:
    """Both recorded games are the same, and their events come in pairs from the second NEXT_TICK
    on.
    """
    ticks = {
        payload["gameInfo"]["currentTick"]: payload
        for event, payload in recorded.events
        if event == "NEXT_TICK"
    }
    nothing = [one for one in recorded.events if one[0] == "PLAYER_DID_NOTHING"][:2]
    events: list[tuple[str, Any]] = []
    for tick in ticks.values():
        events += [("NEXT_TICK", tick), *nothing]
    return [*events, recorded.events[-1]]


async def test_the_recorded_faults_one_after_another(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (HERE / "50-errors.jsonl").read_text().splitlines()]
    async with server(tmp_path) as house, organiser(house) as client:
        for line, following in pairwise(lines):
            if line["kind"] == "sio_out":
                await client.emit("NEW_GAME", *line["args"])
                told = await client.error()
                assert told["error"] == "INVALID_GAME_CONFIGURATION"
                if following["kind"] == "sio_in":
                    assert told == following["args"][0]


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        ("20-answer-bad-direction", ("PLAYER_LOST", "VALIDATION_ERROR")),
        ("20-answer-unknown-task", ("PLAYER_DID_NOTHING", "")),
    ],
)
async def test_intended_differences(
    tmp_path: Path, scenario: str, expected: tuple[str, str]
) -> None:
    recorded = Recorded(next(path for path in RECORDINGS if path.stem == scenario))
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(server(tmp_path))
        bots = await bots_of(recorded, stack)
        client = await stack.enter_async_context(organiser(house))
        await client.emit("NEW_GAME", redirected(recorded.payload, bots))
        told = await asyncio.wait_for(client.until("GAME_ENDED"), PATIENCE)
        at = next(
            number
            for number, (event, payload) in enumerate(told)
            if event == "NEXT_TICK" and tick_of(payload) == 1
        )
        event, payload = told[at + 1]
        assert (event, payload["name"]) == (expected[0], "A")
        assert expected[1] in json.dumps(payload)


def tick_of(payload: Any) -> int:
    return int(payload["gameInfo"]["currentTick"])
