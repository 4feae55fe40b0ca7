"""The nodes as people see them: REST, the command, metrics."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from botdrome.app import RunningServer
from botdrome.catalogue import CATALOGUE
from botdrome.cli.admin import change_node, list_nodes
from tests.server.clients import server
from tests.server.nodes.serving import nodes, spread_out

pytestmark = pytest.mark.anyio
TOKEN = "the operator's own token"


async def shown(house: RunningServer) -> dict[str, Any]:
    async with httpx.AsyncClient(base_url=house.url) as http:
        return {node["name"]: node for node in (await http.get("/api/v1/nodes")).json()["nodes"]}


async def test_nodes_are_listed_and_drained(
    postgres_url: str, nats_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with nodes(postgres_url, nats_url, 2, operator_token=TOKEN) as (ant, bee):
        await spread_out([ant, bee])
        found = await shown(bee)
        assert sorted(found["ant"]["games"] + found["bee"]["games"]) == sorted(CATALOGUE)
        assert [found[name]["url"] for name in ("ant", "bee")] == [ant.url, bee.url]
        assert not found["ant"]["draining"] and found["ant"]["tables"] == 0
        assert await asyncio.to_thread(change_node, ant.url, TOKEN, "bee", True) == 0
        assert bee.desk.cluster is not None
        await bee.desk.cluster.members._beat()  # type: ignore[attr-defined]
        assert (await shown(bee))["bee"]["draining"]
        assert await asyncio.to_thread(list_nodes, bee.url, False) == 0
        lines = capsys.readouterr().out.splitlines()[-3:]  # the log may precede them
        assert lines[0].split() == [
            "node",
            "address",
            "version",
            "tables",
            "connections",
            "waiting",
            "CPU",
            "age",
            "games",
        ]
        assert lines[2].split()[:2] == ["bee", bee.url] and lines[2].endswith("draining")
        assert await asyncio.to_thread(change_node, ant.url, TOKEN, "cow", True) == 1
        assert "there is no node 'cow'" in capsys.readouterr().err
        async with httpx.AsyncClient(base_url=ant.url) as http:
            assert 'botdrome_node_info{epoch="1",node="ant"' in (await http.get("/metrics")).text


async def test_a_single_server_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with server(tmp_path, operator_token=TOKEN) as house:
        assert await asyncio.to_thread(list_nodes, house.url, False) == 0
        assert "is a single server" in capsys.readouterr().err
        assert await asyncio.to_thread(change_node, house.url, TOKEN, "ant", True) == 1
