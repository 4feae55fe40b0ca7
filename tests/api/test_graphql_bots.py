"""Bots in GraphQL: registration, and the actions that need a token."""

from typing import Any

import httpx
import pytest

from botdrome.server.arena import Arena
from tests.api.asking import answered, ask, refused

pytestmark = pytest.mark.anyio

REGISTER = """mutation($name: ID!, $owner: String!, $type: GameType!) {
  registerBot(name: $name, owner: $owner, gameType: $type) { password bot { name owner gameType dateRegistered } }
}"""
ROTATE = "mutation($name: ID!) { rotateToken(name: $name) { password bot { name } } }"
REVOKE = "mutation($name: ID!) { revokeToken(name: $name) { name } }"
NEEDED = "The password of the bot is needed, in the header Authorization: Bearer PASSWORD"


async def registered(
    http: httpx.AsyncClient, name: str, game_type: str = "GOMOKU", owner: str = "me"
) -> str:
    password: str = (await ask(http, REGISTER, name=name, owner=owner, type=game_type))[
        "registerBot"
    ]["password"]
    return password


@pytest.mark.parametrize(
    "name", ["Ann", " sp ace/ü.$ ", "a.b", "名前", "toString", "44427", "x" * 64]
)
async def test_a_bot_is_registered_and_can_log_in(
    http: httpx.AsyncClient, arena: Arena, name: str
) -> None:
    password = await registered(http, name)
    holder = await arena.holder(name, password)
    assert holder is not None
    assert (holder.game, holder.owner) == ("gomoku", "me")


@pytest.mark.parametrize(
    ("name", "owner", "words"),
    [
        ("", "", "a name must not be empty"),
        ("  ", "", "a name must not be empty"),
        ("x" * 65, "", "a name has at most 64 characters"),
        ("house:random", "", "names that begin with house: are those of house bots"),
        ("a\nb", "", "a name has printable characters only"),
        ("a\0b", "", "a name has printable characters only"),
        ("ok", "x" * 201, "an owner has at most 200 characters"),
        ("ok", "a\0b", "an owner has printable characters only"),
    ],
)
async def test_names_that_cannot_be_are_refused_in_words(
    http: httpx.AsyncClient, name: str, owner: str, words: str
) -> None:
    answer = await answered(http, REGISTER, name=name, owner=owner, type="GOMOKU")
    assert answer["data"] == {"registerBot": None}
    assert [error["message"] for error in answer["errors"]] == [words]


async def test_a_name_is_taken_for_all_games(http: httpx.AsyncClient) -> None:
    await registered(http, "Ann", "GOMOKU")
    for game_type in ("GOMOKU", "BATTLESHIP"):
        assert (
            await refused(http, REGISTER, name="Ann", owner="", type=game_type)
            == "Bot already registered with that name"
        )


async def test_bots_are_listed_counted_and_paged(http: httpx.AsyncClient) -> None:
    for number in range(5):
        await registered(http, f"bot {number}", owner="me" if number % 2 else "you")
    query = (
        "query($owner: String, $limit: Int, $offset: Int) { botsCount(gameType: GOMOKU, "
        "owner: "
        "$owner) bots(gameType: GOMOKU, owner: $owner, limit: $limit, offset: $offset) { name "
        "} }"
    )

    async def found(**variables: Any) -> tuple[str, int]:
        data = await ask(http, query, **variables)
        return "".join(bot["name"][-1] for bot in data["bots"]), data["botsCount"]

    assert await found() == ("01234", 5)
    assert await found(owner="me") == ("13", 2)
    assert await found(limit=2, offset=1) == ("12", 5)
    assert await ask(http, "{ bots(gameType: BATTLESHIP) { name } }") == {"bots": []}


async def test_a_token_can_be_rotated(http: httpx.AsyncClient, arena: Arena) -> None:
    old = await registered(http, "Ann")
    new = (await ask(http, ROTATE, old, name="Ann"))["rotateToken"]["password"]
    assert new != old
    assert await arena.holder("Ann", old) is None
    assert await arena.holder("Ann", new) is not None


async def test_a_token_can_be_revoked_for_good(http: httpx.AsyncClient, arena: Arena) -> None:
    token = await registered(http, "Ann")
    assert await ask(http, REVOKE, token, name="Ann") == {"revokeToken": {"name": "Ann"}}
    assert await arena.holder("Ann", token) is None
    assert await refused(http, ROTATE, token, name="Ann") == NEEDED


@pytest.mark.parametrize("mutation", [ROTATE, REVOKE])
async def test_only_the_holder_may_change_a_token(
    http: httpx.AsyncClient, arena: Arena, mutation: str
) -> None:
    token, other = await registered(http, "Ann"), await registered(http, "Bob")
    assert await refused(http, mutation, None, name="Ann") == NEEDED
    assert await refused(http, mutation, other, name="Ann") == NEEDED
    assert await refused(http, mutation, token, name="Nobody") == NEEDED
    for header in (token, f"Basic {token}", "Bearer", "Bearer "):
        query = {"query": mutation, "variables": {"name": "Ann"}}
        response = await http.post("/graphql", json=query, headers={"Authorization": header})
        assert response.json()["errors"][0]["message"] == NEEDED
    assert await arena.holder("Ann", token) is not None
