"""Input rows: the inputs of the running matches of a node, in PostgreSQL.

Each row has all inputs of some milliseconds.
"""

from collections.abc import Sequence
from typing import Any

from botdrome.store.nodes import FENCED
from botdrome.store.postgres import Postgres, leave_as_it_is
from botdrome.store.store import Fenced
from botdrome.store.tables import RELEASED

OWN = "WITH own AS (SELECT FROM nodes WHERE name = $1 AND epoch = $2 FOR KEY SHARE) "
"""The lock makes a node that declares this one dead wait for the commit, so that it reads all rows.
"""
WRITE = (
    f"{OWN}INSERT INTO inputs SELECT $1, $2, $3::bigint, $4::bytea FROM own "
    "ON CONFLICT (node, epoch, number) DO UPDATE SET data = excluded.data RETURNING number"
)
DELETE = (
    f"{OWN}DELETE FROM inputs WHERE node = $1 AND epoch = $2 AND number < $3::bigint AND "
    "EXISTS (SELECT FROM own)"
)
READ = "SELECT number, data FROM inputs WHERE node = $1 AND epoch = $2 ORDER BY number"

RELEASE = f"""{OWN}UPDATE matches
    SET former = trim(coalesce(former, '') || ' ' || node), node = '{RELEASED}'
    WHERE id = ANY ($3::text[]) AND node = $1 || '.' || $2::bigint AND status = 'running'
    AND EXISTS (SELECT FROM own) RETURNING id"""

CLEAN = """DELETE FROM inputs USING (
    SELECT node, epoch, node || '.' || epoch AS id FROM inputs GROUP BY node, epoch
) AS old WHERE inputs.node = old.node AND inputs.epoch = old.epoch
    AND NOT EXISTS (SELECT FROM nodes WHERE name = old.node AND nodes.epoch = old.epoch)
    AND NOT EXISTS (SELECT FROM matches WHERE status = 'running'
        AND (matches.node = old.id OR old.id = ANY (string_to_array(matches.former, ' '))))"""
"""A match that was adopted still needs the rows of its former nodes, since the adopter may die
before it has stored them.
"""


class InputRows(Postgres):
    """The rows of one node, over a connection of its own, so that they do not wait for results."""

    def __init__(self, url: str, shown: str, node: str, epoch: int, flushed: bool = False) -> None:
        """`flushed`: a row is on disk when `write` returns.

        Otherwise it survives the node but not a crash of PostgreSQL.
        """
        super().__init__(url, shown)
        self._node, self._epoch, self._flushed = node, epoch, flushed
        self._writing: Any = None
        """The connection that writes rows, and its statement: taking them from the pool costs more
        than writing.
        """
        self._statement: Any = None

    async def open(self) -> None:
        async with self._explained():
            commit = {"synchronous_commit": "on" if self._flushed else "off"}
            self._writer = await self._pool(2, commit, reset=leave_as_it_is)

    async def write(self, number: int, data: bytes) -> None:
        """Write a row; once more if it is there already.

        Raise Fenced or StoreUnavailable if it is not written.
        """
        async with self._explained():
            try:
                if self._statement is None:
                    self._writing = await self._writer.acquire()
                    self._statement = await self._writing.prepare(WRITE)
                written = await self._statement.fetchval(self._node, self._epoch, number, data)
            except BaseException:
                await self._release()
                raise
        if written is None:
            raise Fenced(FENCED.format(self._node, self._epoch))

    async def _release(self) -> None:
        connection, self._writing, self._statement = self._writing, None, None
        if connection is not None:
            await self._writer.release(connection)

    async def close(self) -> None:
        await self._release()
        await super().close()

    async def delete_before(self, number: int) -> None:
        async with self._explained():
            await self._writer.execute(DELETE, self._node, self._epoch, number)

    async def read(self, node: str, epoch: int) -> list[tuple[int, bytes]]:
        """Return the rows of any node with their numbers, in their order."""
        async with self._explained():
            return [(row[0], row[1]) for row in await self._writer.fetch(READ, node, epoch)]

    async def release(self, match_ids: Sequence[str]) -> set[str]:
        """Give up running matches of this node, so that another one can adopt them.

        Return the ids of those that it had.

        If this raises StoreUnavailable, it may have happened or not.
        """
        async with self._explained():
            return {
                row[0]
                for row in await self._writer.fetch(
                    RELEASE, self._node, self._epoch, list(match_ids)
                )
            }

    async def clean(self) -> None:
        """Delete the rows of dead nodes whose matches are all over."""
        async with self._explained():
            await self._writer.execute(CLEAN)
