"""A page whose own name leads to this machine (DNS rebinding) is not taken for ours.

And headers for browsers on all answers.
"""

import asyncio
from pathlib import Path

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from botdrome.app import RunningServer
from tests.server.clients import PATIENCE, server

pytestmark = pytest.mark.anyio

PATHS = [
    "/",
    "/healthz",
    "/metrics",
    "/graphql?query={__typename}",
    "/api/v1/bots",
    "/socket.io/?EIO=4&transport=polling",
    "/bomber/rest/state",
]
SETTINGS = {"bomber_port": -1, "cube_port": -1}
SOCKETS = [
    "/",
    "/graphql",
    "/connect",
    "/boats/host",
    "/watch/x",
    "/bomber/rest",
    "/socket.io/?EIO=4&transport=websocket",
]


async def test_a_name_that_is_not_ours_is_refused_everywhere(house: RunningServer) -> None:
    async with httpx.AsyncClient(timeout=PATIENCE) as http:
        for port, paths in (
            (house.port, PATHS),
            (house.ports["bomber"], PATHS[-1:]),
            (house.ports["cube"], PATHS[-2:-1]),
        ):
            for path in paths:
                there = f"http://127.0.0.1:{port}{path}"
                refused = await http.get(there, headers={"host": f"evil.example:{port}"})
                assert (refused.status_code, "public_url" in refused.text) == (421, True), path
                assert (await http.get(there, headers={"host": "localhost"})).status_code == 200, (
                    path
                )


@pytest.mark.parametrize("path", SOCKETS)
async def test_nor_may_a_socket_be_opened_under_it(house: RunningServer, path: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await connect(
            f"ws://evil.example:{house.port}{path}",
            host="127.0.0.1",
            port=house.port,
            open_timeout=PATIENCE,
        )
    assert refused.value.response.status_code == 421
    assert b"public_url" in (refused.value.response.body or b"")


async def test_the_name_in_public_url_is_ours(tmp_path: Path) -> None:
    ours = {"host": "arena.example.org", "origin": "https://arena.example.org"}
    async with (
        server(tmp_path, network_public_url="https://arena.example.org") as house,
        httpx.AsyncClient(timeout=PATIENCE) as http,
    ):
        for path in PATHS:
            assert (await http.get(house.url + path, headers=ours)).status_code == 200
        answer = await http.post(
            f"{house.url}/graphql", json={"query": "{__typename}"}, headers=ours
        )
        assert answer.json() == {"data": {"__typename": "Query"}}
        async with connect(
            "ws://arena.example.org/", host="127.0.0.1", port=house.port, open_timeout=PATIENCE
        ):
            pass


async def test_a_request_of_old_without_a_host_passes(house: RunningServer) -> None:
    for path in PATHS:
        reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
        writer.write(f"GET {path} HTTP/1.0\r\n\r\n".encode())
        assert (await asyncio.wait_for(reader.readline(), PATIENCE)).endswith(b" 200 OK\r\n"), path
        writer.close()


async def test_every_answer_has_the_headers_that_browsers_go_by(house: RunningServer) -> None:
    missing = [
        "/nothing",
        "/api/v1/nothing",
        "/static/nothing",
        "/socket.io/nothing",
        "/bomber/nothing",
        "/watch/x/events",
    ]
    async with httpx.AsyncClient(timeout=PATIENCE) as http:
        answers = [
            await http.get(house.url + path)
            for path in (*PATHS, *missing, "/duel/results_table", "/api/v1/docs")
        ]
        answers += [
            await http.get(house.url + path, headers={"host": "evil.example"}) for path in PATHS
        ]
        answers.append(
            await http.get(
                f"http://127.0.0.1:{house.ports['bomber']}/bomber/rest/rules",
                headers={"accept": "text/html"},
            )
        )
        for answer in answers:
            assert answer.headers["x-content-type-options"] == "nosniff", answer.url
            assert answer.headers["x-frame-options"] == "DENY"
            assert answer.headers["referrer-policy"] == "same-origin"
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
            open_to_all = answer.url.path.startswith(("/bomber", "/socket.io"))
            assert answer.headers["cross-origin-resource-policy"] == (
                "cross-origin" if open_to_all else "same-origin"
            )
            assert len(answer.headers.get_list("x-content-type-options")) == 1
