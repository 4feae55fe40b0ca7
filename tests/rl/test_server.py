"""The same seed and actions give the same news and result through an environment and through a
server.
"""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

import botdrome
from botdrome.catalogue import CATALOGUE, restored
from botdrome.encodings import Encoding, encoding_of
from botdrome.games.options import with_options
from botdrome.match.events import Ended
from botdrome.match.record import replay
from tests.rl.playing import choose
from tests.server.battlebot.people import move, person
from tests.server.clients import Client, bot, server

pytestmark = pytest.mark.anyio

SHORT: dict[str, dict[str, Any]] = {
    "noughts-and-crosses": {},
    "gomoku": {"size": 6, "win_length": 4},
    "bumblebots": {"ticks": 30},
    "battleship": {"width": 6, "height": 5, "boats": "A3 B2"},
    "battlecube": {"edge": 4, "ticks": 30},
    "bomberman": {"rounds": 30, "closing": 10},
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("game", CATALOGUE)
async def test_an_environment_and_a_server_tell_the_same(game: str, tmp_path: Path) -> None:
    options = SHORT[game]
    encoding = encoding_of(with_options(CATALOGUE[game].game, options), 2)
    async with server(tmp_path) as house:
        logins = [person(name, game, invite="us", options=options) for name in ("ada", "bob")]
        async with bot(house, logins[0]) as ada, bot(house, logins[1]) as bob:
            found = await asyncio.gather(played(ada, encoding), played(bob, encoding))
        record = await house.desk.store.record(found[0]["match"])
    assert record is not None
    actions = {entry["player"]: iter(entry["actions"]) for entry in found}
    seed = restored(record)[0].setup.seed
    assert isinstance(seed, str)
    env = botdrome.env(game, **options)
    env.reset(seed=int(seed, 16))
    for agent in env.agent_iter():
        env.step(
            None if env.terminations[agent] else next(actions[env.possible_agents.index(agent)])
        )
    assert news_of(env.record()) == news_of(record)
    assert all(next(rest, None) is None for rest in actions.values())


async def played(client: Client, encoding: Encoding) -> dict[str, Any]:
    """Play a match by the rule of the tests; its id, the number of the player, and its actions."""
    snapshot = await client.receive()
    player, actions = snapshot["view"]["you"], list[int]()
    frame = await client.receive()
    while frame["event"]["event"] != "ended":
        if "timeLeft" in frame and frame["view"]["you"] in frame["view"]["toMove"]:
            actions.append(choose(*encoding.arrays(frame["view"], {})))
            await move(client, encoding.move(frame["view"], actions[-1]))
        frame = await client.receive()
    return {"match": snapshot["match"], "player": player, "actions": actions}


def news_of(data: bytes) -> list[Any]:
    """All events of a match file with the public views, up to the result."""
    record, game = restored(data)
    found = [
        (event, position.view(None)) for _, news in replay(record, game) for event, position in news
    ]
    assert isinstance(found[-1][0], Ended)
    decoded: list[Any] = msgspec.json.decode(msgspec.json.encode(found))
    return decoded
