"""The inputs of running matches in PostgreSQL."""

import asyncpg  # type: ignore[import-untyped]
import pytest

from botdrome.store.entries import Fenced
from botdrome.store.nodes import InputRows
from botdrome.store.store import open_store

pytestmark = pytest.mark.anyio


async def test_postgresql_stores_the_rows_of_a_live_node_only(postgres_url: str) -> None:
    store = await open_store(postgres_url)
    connection = await asyncpg.connect(postgres_url)
    columns = "name, epoch, alive, messages, machine, handover, version, url, draining, beat, load"
    await connection.execute(
        f"INSERT INTO nodes ({columns}) VALUES ('ant', 1, true, 1, '', '', '', '', false, 0, "
        f"'{{}}')"
    )
    rows = InputRows(postgres_url, "the store", "ant", 1)
    await rows.open()
    for number, data in ((1, b"a"), (2, b"torn"), (2, b"b"), (3, b"c")):
        await rows.write(number, data)
    assert await rows.read("ant", 1) == [(1, b"a"), (2, b"b"), (3, b"c")]
    await rows.delete_before(2)
    assert await rows.read("ant", 1) == [(2, b"b"), (3, b"c")]
    await connection.execute("UPDATE nodes SET epoch = 2")
    with pytest.raises(Fenced, match=r"ant\.1 was declared dead"):
        await rows.write(4, b"d")
    await rows.delete_before(4)
    assert await rows.read("ant", 1) == [(2, b"b"), (3, b"c")]
    await rows.close()
    await connection.close()
    await store.close()
