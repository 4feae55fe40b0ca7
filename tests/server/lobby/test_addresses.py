"""Addresses of bots, over REST and GraphQL: registered, changed, entered in contests; by their
owners alone.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from botdrome.app import RunningServer
from botdrome.server.workers import pool as workers
from tests.patience import until
from tests.server.calling.hosts import Asked, Host, host
from tests.server.clients import NOTICES, PATIENCE, bot, leap, play_noughts, registered, server
from tests.server.lobby.url_hosts import url_bot, with_address

pytestmark = pytest.mark.anyio
GAME = "noughts-and-crosses"
REGISTER = """mutation($name: ID!, $url: String) {
  registerBot(name: $name, owner: "me", gameType: NOUGHTS_AND_CROSSES, url: $url) { password bot { name called } }
}"""
MOVE = 'mutation($url: String) { moveBot(name: "called", url: $url) { called } }'
ENTER = 'mutation { enterContest(contest: "cup", bot: "called") { name gameType } }'
WITHDRAW = 'mutation { withdrawFromContest(contest: "cup", bot: "called") { name } }'


@asynccontextmanager
async def http(house: RunningServer, token: str = "") -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx.AsyncClient(base_url=house.url, headers=headers, timeout=PATIENCE) as client:
        yield client


async def ask(client: httpx.AsyncClient, query: str, **variables: Any) -> Any:
    answer = (await client.post("/graphql", json={"query": query, "variables": variables})).json()
    return answer["errors"][0]["message"] if "errors" in answer else answer["data"]


async def test_a_bot_is_registered_with_its_address_over_rest(tmp_path: Path) -> None:
    async with server(tmp_path) as house, url_bot() as called, http(house) as client:
        answer = await client.post(
            "/api/v1/bots", json={"game": GAME, "name": "called", "url": called.url}
        )
        assert answer.status_code == 201
        assert answer.json()["bot"]["called"] is True
        assert called.url not in answer.text, "where a bot is, is nobody's business"
        assert (await client.get("/api/v1/bots/called")).json()["called"] is True
        async with bot(house, await registered(house, "ada") | {"opponent": "called"}) as one:
            await play_noughts(one, "ada")


async def test_a_bot_is_registered_with_its_address_over_graphql(tmp_path: Path) -> None:
    async with server(tmp_path) as house, url_bot() as called, http(house) as client:
        data = await ask(client, REGISTER, name="called", url=called.url)
        assert data["registerBot"]["bot"] == {"name": "called", "called": True}
        assert (await ask(client, REGISTER, name="plain"))["registerBot"]["bot"] == {
            "name": "plain",
            "called": False,
        }


@pytest.mark.parametrize(
    ("url", "words"),
    [
        (
            "http://10.0.0.1/",
            "10.0.0.1 may not be called from this server; the server's operator can allow it with "
            "--allow-bots 10.0.0.1",
        ),
        (
            "http://127.0.0.1:22/",
            "port 22 may not be called; the server's operator can allow it in the setting "
            "calls.ports",
        ),
        ("nonsense", "an address begins with http:// or https://"),
        ("connect:called", "connect: is for bots that are connected, and needs no registration"),
    ],
)
async def test_an_address_that_cannot_be_called_is_refused_with_words(
    tmp_path: Path, url: str, words: str
) -> None:
    async with server(tmp_path) as house, http(house) as client:
        answer = await client.post(
            "/api/v1/bots", json={"game": GAME, "name": "called", "url": url}
        )
        assert (answer.status_code, answer.json()["error"]) == (
            422,
            f"The bot cannot be called: {words}",
        )
        assert (
            await ask(client, REGISTER, name="called", url=url)
            == f"The bot cannot be called: {words}"
        )
        assert (await client.get("/api/v1/bots/called")).status_code == 404


async def test_an_address_is_changed_and_given_up(tmp_path: Path) -> None:
    async with server(tmp_path) as house, url_bot() as old, url_bot() as new:
        token = await with_address(house, "called", old)
        async with http(house, token) as client:
            answer = await client.put("/api/v1/bots/called", json={"url": new.url})
            assert (answer.status_code, answer.json()["called"]) == (200, True)
            found = await house.arena.store.bot("called")
            assert found is not None and found.url == new.url
            assert await ask(client, MOVE, url=old.url) == {"moveBot": {"called": True}}
            assert await ask(client, MOVE, url=None) == {"moveBot": {"called": False}}
            assert (await client.put("/api/v1/bots/called", json={"url": None})).json()[
                "called"
            ] is False


async def test_a_bot_is_entered_and_withdrawn(tmp_path: Path) -> None:
    async with server(tmp_path, contest_games=1) as house, url_bot() as called:
        token = await with_address(house, "called", called)
        path = f"/api/v1/contests/{GAME}/cup"
        async with http(house, token) as client:
            entry = await client.post(path, json={"bot": "called"})
            assert (entry.status_code, entry.json()) == (
                200,
                {"contest": "cup", "bot": "called", "entered": True},
            )
            login = await registered(house, "ada") | {"contest": "cup"} | NOTICES
            async with bot(house, login) as one:
                await play_noughts(one, "ada")
            entry = await client.request("DELETE", path, json={"bot": "called"})
            assert entry.json() == {"contest": "cup", "bot": "called", "entered": False}
            assert await ask(client, ENTER) == {
                "enterContest": {"name": "cup", "gameType": "NOUGHTS_AND_CROSSES"}
            }
            assert await ask(client, WITHDRAW) == {"withdrawFromContest": {"name": "cup"}}
            async with bot(house, login) as one:
                await until(lambda: house.desk.seekers(9))
                leap(300)
                assert "no opponent came" in (await one.receive())["error"]


async def test_only_the_owner_may_do_that(tmp_path: Path) -> None:
    async with server(tmp_path) as house, url_bot() as called:
        await with_address(house, "called", called)
        stranger = (await registered(house, "ada"))["password"]
        contest = f"/api/v1/contests/{GAME}/cup"
        for token, status in (("", 401), (stranger, 403)):
            async with http(house, token) as client:
                for answer in (
                    await client.put("/api/v1/bots/called", json={"url": None}),
                    await client.post(contest, json={"bot": "called"}),
                    await client.request("DELETE", contest, json={"bot": "called"}),
                ):
                    assert answer.status_code == status
                for query in (MOVE, ENTER, WITHDRAW):
                    assert "The password of the bot is needed" in await ask(client, query)


async def test_what_cannot_be_entered(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        token = (await registered(house, "ada"))["password"]
        async with http(house, token) as client:
            for path, body, status, words in (
                (f"{GAME}/cup", {"bot": "ada"}, 422, "it has no address, and is not connected"),
                ("gomoku/cup", {"bot": "ada"}, 400, "ada is registered for noughts-and-crosses"),
                ("chess/cup", {"bot": "ada"}, 404, "chess"),
                (f"{GAME}/cup", {"bot": "nobody"}, 404, "there is no bot 'nobody'"),
                (f"{GAME}/cup", {}, 400, "the body is not what it should be"),
                (
                    f"{GAME}/{'x' * 1001}",
                    {"bot": "ada"},
                    400,
                    "the name of a contest has 1 to 1000 characters",
                ),
            ):
                answer = await client.post(f"/api/v1/contests/{path}", json=body)
                assert answer.status_code == status
                assert words in answer.json()["error"]


async def silence(_: asyncio.StreamWriter, __: Asked) -> None:
    await asyncio.Event().wait()


@asynccontextmanager
async def registering(client: httpx.AsyncClient, slow: Host, *names: str) -> AsyncIterator[None]:
    """Bots are being registered that do not answer the challenge."""
    waiting = [
        asyncio.ensure_future(ask(client, REGISTER, name=name, url=slow.url)) for name in names
    ]
    while len(slow.asked) < len(names):
        slow.heard.clear()
        await asyncio.wait_for(slow.heard.wait(), PATIENCE)
    try:
        yield
    finally:
        for request in waiting:
            request.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_a_slow_bot_keeps_neither_queries_nor_other_bots_waiting(tmp_path: Path) -> None:
    """More of them are slow than queries are worked on at once."""
    async with (
        server(tmp_path) as house,
        host(silence) as slow,
        url_bot() as quick,
        http(house) as client,
        registering(client, slow, "a", "b", "c", "d", "e"),
    ):
        assert (await ask(client, REGISTER, name="quick", url=quick.url))["registerBot"]["bot"][
            "called"
        ]
        assert "registerBot" in await ask(client, REGISTER, name="plain")
        token = await with_address(house, "called", quick)
        async with http(house, token) as owner:
            assert await ask(owner, MOVE, url=quick.url) == {"moveBot": {"called": True}}
            assert "enterContest" in await ask(owner, ENTER)


async def test_not_everybody_can_have_a_bot_called_over_graphql_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "MOST_CALLS", 3)
    async with (
        server(tmp_path) as house,
        host(silence) as slow,
        http(house) as client,
        registering(client, slow, "a", "b", "c"),
    ):
        said = await ask(client, REGISTER, name="d", url=slow.url)
        assert (
            said == "Too many bots are being called just now: try again in a moment, or over REST."
        )
        assert "registerBot" in await ask(client, REGISTER, name="plain")
