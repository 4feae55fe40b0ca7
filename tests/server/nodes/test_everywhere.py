"""What people, organisers and called bots use at any node, whichever node has the clients, the
matches and the contests.
"""

import asyncio
from typing import Any

import httpx
import pytest

from botdrome.app import RunningServer
from botdrome.server.calling.bot_connection import BotAnswer, CallFailed
from botdrome.server.lobby.url_bots import UrlBots
from tests.patience import PATIENCE, until
from tests.server.clients import Client, bot, client, registered, unhurried
from tests.server.lobby.test_connect import callers_of
from tests.server.lobby.test_url_bots_in_contests import until_over
from tests.server.lobby.url_hosts import url_bot, with_address
from tests.server.nodes.serving import home_of, nodes, spread_out
from tests.server.nodes.test_shared_state import die, of
from tests.server.nodes.test_spreading import others_play
from tests.server.operator.clients import TOKEN, Office, office

pytestmark = pytest.mark.anyio

NOUGHTS = "noughts-and-crosses"


async def listed(operator: Office, query: str = "") -> list[tuple[str, str]]:
    return [(one["name"], one["node"]) for one in await operator.clients(query)]


async def test_the_operator_acts_at_any_node(postgres_url: str, nats_url: str) -> None:
    with unhurried(NOUGHTS):
        async with (
            nodes(postgres_url, nats_url, 2, operator_token=TOKEN, cluster_pairing=60) as (
                ant,
                bee,
            ),
            office(ant, "") as one,
            office(bee, "") as two,
        ):
            for node in (ant, bee):
                others_play(node)  # so that its players are paired there
            signed_in = await one.client.post("/session", json={"token": TOKEN})
            two.client.cookies.update(signed_in.cookies)
            logins = [await registered(ant, name) for name in ("ada", "bob", "cid", "dan")]
            async with (
                bot(ant, logins[0]) as ada,
                bot(ant, logins[1]),
                bot(bee, logins[2]) as cid,
                bot(bee, logins[3]),
            ):
                await ada.receive()
                await cid.receive()
                assert await listed(two, "?sort=name") == [
                    ("ada", "ant"),
                    ("bob", "ant"),
                    ("cid", "bee"),
                    ("dan", "bee"),
                ]
                assert await listed(one, "?sort=-name&limit=2&offset=1") == [
                    ("cid", "bee"),
                    ("bob", "ant"),
                ]
                assert await listed(one, "?search=bee&sort=node") == [
                    ("cid", "bee"),
                    ("dan", "bee"),
                ]
                first = (await two.clients("?sort=name"))[0]
                async with httpx.AsyncClient(base_url=f"{bee.url}/api/v1") as web:
                    players = (await web.get(f"/matches/{first['match']}/players")).json()[
                        "players"
                    ]
                    assert {one["protocol"] for one in players} == {"battlebot"}
                    assert (await web.get(f"/matches/{first['match']}")).json()["view"]["board"]
                await two.have("POST", f"/matches/{first['match']}/end", {})
                assert (await ada.until_closed())[0][-1]["state"]["result"]["reason"]
                assert (await one.refused("DELETE", "/clients", {"number": 1}))[0] == 404
                await one.have("DELETE", "/clients", {"name": "cid", "reason": "stuck"})
                assert (await cid.until_closed())[2] == "the operator removed this client: stuck"
            async with bot(bee, logins[0]) as ada:
                (at,) = [(line["number"], line["node"]) for line in await one.clients()]
                await one.have("DELETE", "/clients", {"number": at[0], "node": at[1]})
                await ada.until_closed()
            await two.have("DELETE", "/session")
            assert (await one.refused("GET", "/clients"))[0] == 401


async def test_contests_and_waiting_players_at_any_node(postgres_url: str, nats_url: str) -> None:
    async with nodes(postgres_url, nats_url, 2, operator_token=TOKEN) as both:
        for house in both:
            await _has_contest(house, f"cup{house.port}")


async def _has_contest(house: RunningServer, name: str) -> None:
    login = await registered(house, f"bot of {name}")
    create = (
        f'mutation {{ createContest(toml: "name = \\"{name}\\"\\ngame = \\"{NOUGHTS}\\"") {{ '
        f"state }} }}"
    )
    act = f'mutation {{ actOnContest(name: "{name}", action: START) {{ state }} }}'
    operator, owner = [{"authorization": f"Bearer {token}"} for token in (TOKEN, login["password"])]
    async with httpx.AsyncClient(base_url=house.url, timeout=60) as web, bot(house, login):
        while not [
            one
            for one in (await web.get("/api/v1/next")).json()["waiting"]
            if one["name"] == login["name"]
        ]:
            await asyncio.sleep(0.01)
        made = (await web.post("/graphql", json={"query": create}, headers=operator)).json()
        assert made == {"data": {"createContest": {"state": "draft"}}}
        refused = (await web.post("/graphql", json={"query": act}, headers=operator)).json()
        assert (
            refused["errors"][0]["message"]
            == "0 entrants cannot fill a table of 2; at least 2 are needed"
        )
        await web.post(
            f"/api/v1/operator/contest-actions/{name}", json={"action": "open"}, headers=operator
        )
        entered = await web.post(
            f"/api/v1/contests/{NOUGHTS}/{name}", json={"bot": login["name"]}, headers=owner
        )
        assert entered.json()["entered"]
        shown = (await web.get(f"/api/v1/contest-documents/{name}")).json()
        assert (shown["state"], [one["name"] for one in shown["entrants"]]) == (
            "open",
            [login["name"]],
        )


async def joins(house: RunningServer, one: Client, login: dict[str, Any]) -> None:
    await one.send({"name": login["name"], "password": login["password"]})
    assert "connected" in await one.receive()


async def test_a_bot_is_called_through_a_tunnel_to_any_node(
    postgres_url: str, nats_url: str
) -> None:
    async with nodes(postgres_url, nats_url, 3) as (ant, bee, cat):
        called, ada = [await registered(ant, name) for name in ("called", "ada")]
        async with client(ant, "/connect") as one:
            await joins(ant, one, called)
            await until(lambda: all("called" in callers_of(house).tunnels for house in (bee, cat)))
            call = asyncio.ensure_future(
                callers_of(cat).post("connect:called", b"question", PATIENCE)
            )
            await one.send({"call": (await one.receive())["call"], "status": 201, "body": "answer"})
            assert await call == BotAnswer(201, b"answer")
            async with bot(bee, ada | {"opponent": "called"}) as player:
                question = await one.receive()
                await one.send({"call": question["call"], "status": 200, "body": question["body"]})
                assert sorted((await player.receive())["state"]["marks"].values()) == [
                    "ada",
                    "called",
                ]
            async with client(bee, "/connect") as two:
                await joins(bee, two, called)
                assert (await one.until_closed())[1] == 4001
                call = asyncio.ensure_future(callers_of(ant).post("connect:called", b"", PATIENCE))
                message = await two.receive()
                while message["body"]:
                    message = await two.receive()
                await two.send({"call": message["call"], "status": 200, "body": "two"})
                assert (await call).body == b"two"
                await die(bee)
                await until(lambda: "called" not in callers_of(cat).tunnels)
                with pytest.raises(CallFailed, match="called is not connected"):
                    await callers_of(cat).post("connect:called", b"", PATIENCE)


async def test_called_bots_play_a_contest_at_its_home_alone(
    postgres_url: str, nats_url: str
) -> None:
    async with (
        nodes(postgres_url, nats_url, 2, contest_games=1, contest_wait=0.0) as both,
        url_bot() as called,
    ):
        await spread_out(both)
        home = home_of(both, NOUGHTS)
        (other,) = [one for one in both if one is not home]
        for name in ("ada", "bob"):
            await with_address(other, name, called)
        await enters(other, "ada")
        assert bots_of(home)._attending and not bots_of(other)._attending
        await of(other).members.drain(of(home).members.here.name)
        await until(lambda: not bots_of(home)._attending and bots_of(other)._attending)
        await enters(home, "bob")
        assert len(await until_over(other, 2, contest="cup")) == 2


def bots_of(house: RunningServer) -> UrlBots:
    return house.arena.url_bots


async def enters(house: RunningServer, name: str) -> None:
    found = await house.arena.store.bot(name)
    assert found is not None
    await house.arena.enter(found, "cup")


async def test_a_class_is_the_same_at_all_nodes(postgres_url: str, nats_url: str) -> None:
    async with (
        nodes(postgres_url, nats_url, 2, operator_token=TOKEN) as (ant, bee),
        office(ant) as one,
        office(bee) as two,
        httpx.AsyncClient(base_url=f"{bee.url}/api/v1", timeout=PATIENCE) as web,
    ):
        code = (await one.have("POST", "/classes", {"name": "Robots"}))["code"]
        joined = (await web.post("/participants", json={"code": code, "name": "Ada"})).json()
        headers = {"Authorization": f"Bearer {joined['token']}"}
        body = {"game": NOUGHTS, "name": "ada-1"}
        password = (await web.post("/bots", json=body, headers=headers)).json()["password"]
        login = {"gameType": "NOUGHTS_AND_CROSSES", "name": "ada-1", "password": password}
        async with bot(ant, login) as ada:
            (member,) = (await one.get("/classes/Robots"))["participants"]
            assert (member["name"], member["bots"]) == ("Ada", ["ada-1"])
            await two.have("POST", "/classes/Robots", {"do": "remove", "participant": "Ada"})
            await ada.until_closed()
