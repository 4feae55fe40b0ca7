"""Clients that come back to their match at another node."""

import pytest

from tests.patience import until
from tests.server.clients import bot, registered
from tests.server.nodes.serving import nodes

pytestmark = pytest.mark.anyio


async def test_a_client_comes_back_from_any_node(postgres_url: str, nats_url: str) -> None:
    async with nodes(postgres_url, nats_url, 2) as two:
        ada, bob = [await registered(two[0], name, "battleship") for name in ("ada", "bob")]
        async with bot(two[0], bob) as opponent:
            async with bot(two[0], ada) as one:
                await one.receive()
                await opponent.receive()
            (table,) = [
                table
                for node in two
                for live in node.desk.tables.live()
                if (table := node.desk.tables[live.id])
            ]
            for node in two:
                await until(lambda: table.match.away)
                async with bot(node, ada | {"match": table.entry.id}) as again:
                    assert (await again.receive())["state"]["match"] == table.entry.id
