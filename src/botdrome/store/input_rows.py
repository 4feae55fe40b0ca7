"""Input rows: the inputs of the running matches of a node, in PostgreSQL. Each row has all inputs of some milliseconds."""

from typing import Any

from botdrome.store.postgres import Postgres, leave_as_it_is
from botdrome.store.store import StoreUnavailable

OWN = "WITH own AS (SELECT FROM nodes WHERE name = $1 AND epoch = $2 FOR KEY SHARE) "
"""The lock makes a node that declares this one dead wait for the commit, so that it reads all rows."""
WRITE = (
    f"{OWN}INSERT INTO inputs SELECT $1, $2, $3::bigint, $4::bytea FROM own "
    "ON CONFLICT (node, epoch, number) DO UPDATE SET data = excluded.data RETURNING number"
)
DELETE = f"{OWN}DELETE FROM inputs WHERE node = $1 AND epoch = $2 AND number < $3::bigint AND EXISTS (SELECT FROM own)"
READ = "SELECT data FROM inputs WHERE node = $1 AND epoch = $2 ORDER BY number"


class NotOwner(Exception):
    """The node has another epoch by now: it was declared dead, and must not write."""


class InputRows(Postgres):
    """The rows of one node, over a connection of its own, so that they do not wait for results."""

    def __init__(self, url: str, shown: str, node: str, epoch: int, flushed: bool = False) -> None:
        """`flushed`: a row is on disk when `write` returns. Otherwise it survives the node but not a crash of PostgreSQL."""
        super().__init__(url, shown)
        self._node, self._epoch, self._flushed = node, epoch, flushed

    async def open(self) -> None:
        async with self._explained():
            commit = {"synchronous_commit": "on" if self._flushed else "off"}
            self._writer = await self._pool(1, commit, reset=leave_as_it_is)

    async def write(self, number: int, data: bytes) -> None:
        """Write a row; once more if it is there already. Raise NotOwner or StoreUnavailable if it is not written."""
        if await self._answer("fetchval", WRITE, number, data) is None:
            raise NotOwner(f"{self._node}.{self._epoch} was declared dead")

    async def delete_before(self, number: int) -> None:
        await self._answer("execute", DELETE, number)

    async def read(self, node: str, epoch: int) -> list[bytes]:
        """Return the rows of any node, in their order."""
        async with self._explained():
            return [row[0] for row in await self._writer.fetch(READ, node, epoch)]

    async def _answer(self, verb: str, statement: str, *values: Any) -> Any:
        async with self._explained():
            if self._writer is None:
                raise StoreUnavailable("it is closed")
            async with self._writer.acquire() as connection:
                return await getattr(connection, verb)(statement, self._node, self._epoch, *values)
