"""The nodes as people see them: REST, the command, metrics."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from botdrome.app import RunningServer
from botdrome.catalogue import CATALOGUE
from tests.cli.commands import run_beside
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
        drained = await run_beside("admin", "drain", "bee", "--server", ant.url, "--token", TOKEN)
        assert drained.exit_code == 0
        assert ant.node.cluster is not None and bee.node.cluster is not None
        await bee.node.cluster.members._beat()
        assert (await shown(bee))["bee"]["draining"]
        listed = await run_beside("admin", "nodes", "--server", bee.url)
        assert listed.exit_code == 0
        lines = listed.stdout.splitlines()
        assert lines[0].split() == [
            "node", "tables", "connections", "waiting", "CPU", "age", "version", "address", "games",
        ]  # fmt: skip
        assert lines[2].startswith("bee ") and f" {bee.url} " in lines[2]
        assert " draining " in lines[2]
        drained = await run_beside("admin", "drain", "cow", "--server", ant.url, "--token", TOKEN)
        assert drained.exit_code == 1
        assert "there is no node 'cow'" in drained.stderr
        async with httpx.AsyncClient(base_url=ant.url) as http:
            assert 'botdrome_node_info{epoch="1",node="ant"' in (await http.get("/metrics")).text


async def test_a_single_server_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with server(tmp_path, operator_token=TOKEN) as house:
        listed = await run_beside("admin", "nodes", "--server", house.url)
        assert listed.exit_code == 0
        assert "is a single server" in listed.stderr
        drained = await run_beside("admin", "drain", "ant", "--server", house.url, "--token", TOKEN)
        assert drained.exit_code == 1
