"""The rows of nodes and homes in PostgreSQL, and the locks by which nodes show that they live.

The lock of a node has the number of its epoch, which no other live node has. A process that ends
loses its lock at once.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from secrets import token_hex
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.store.entries import Fenced, Source, StoreUnavailable
from botdrome.store.postgres import (
    ERRORS,
    FENCED,
    HELD,
    LOCKS,
    Claim,
    Postgres,
    connect,
)
from botdrome.store.rows import as_json, key
from botdrome.store.schema import RELEASED

JOINING = 0
"""The number of the lock of a node that joins."""
GOODBYE = 2.0
"""Seconds for leaving."""
CHANNEL = "botdrome_nodes"
FORGET = 24 * 3600 * 1000
"""Milliseconds after which the row of a dead node is deleted."""

NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
UPTIME = "SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::float"
TELL = f"SELECT pg_notify('{CHANNEL}', '')"

ROW = "name, epoch, machine, handover, version, messages, url, draining, load, beat"
SEEN = f"""SELECT {ROW}, {NOW} - beat AS age, number IS NOT NULL AS locked
    FROM nodes LEFT JOIN ({HELD}) AS held ON number = epoch WHERE alive"""
BEAT = f"""WITH mine AS
    (UPDATE nodes SET beat = {NOW}, load = $3 WHERE name = $1 AND epoch = $2 AND alive RETURNING 1)
    {SEEN} AND EXISTS (SELECT FROM mine)"""
JOIN = f"""INSERT INTO nodes
    (name, epoch, alive, machine, handover, version, messages, url, draining, load, beat)
    VALUES ($1, $2, true, $3, $4, $5, $6, $7, $8, $9, {NOW}) ON CONFLICT (name) DO UPDATE
    SET (epoch, alive, machine, handover, version, messages, url, draining, load, beat) =
    (SELECT excluded.epoch, excluded.alive, excluded.machine, excluded.handover, excluded.version,
    excluded.messages, excluded.url, excluded.draining, excluded.load, excluded.beat)"""
CLUSTER = (
    "INSERT INTO heartbeats VALUES ($1, $2, 0) ON CONFLICT (name) DO UPDATE SET beat "
    "= 0 RETURNING owner"
)
CHANGE = (
    "UPDATE nodes SET url = $3, handover = $4, draining = $5 WHERE name = $1 AND epoch = $2 "
    "AND alive"
)
DRAIN = "UPDATE nodes SET draining = $2 WHERE name = $1 AND alive RETURNING name"
BURY = """WITH dead AS
    (UPDATE nodes SET epoch = epoch + 1, alive = false
    WHERE name = $1 AND epoch = $2 AND alive RETURNING name),
    freed AS (DELETE FROM homes WHERE node = $1 || '.' || $2::bigint AND EXISTS (SELECT FROM dead))
    SELECT name FROM dead"""
"""Of several nodes that notice a death, one gets an answer."""
BLOCKED = 0.5
"""Seconds that the declaration of a death waits for transactions before it ends them."""
UNBLOCK = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid = ANY (pg_blocking_pids($1)) AND wait_event_type = 'Client'
    AND state_change < clock_timestamp() - interval '1 s'"""
"""Ends transactions that block a process of PostgreSQL, and have waited long for their client."""
CLEAN = f"""DELETE FROM nodes WHERE NOT alive AND beat < {NOW} - $1 AND name <> $2
    AND epoch < (SELECT max(epoch) FROM nodes)"""

CLAIM = """INSERT INTO homes (key, node)
    SELECT $1, $2 FROM nodes WHERE name || '.' || epoch = $2 AND alive
    ON CONFLICT (key) DO UPDATE SET node = excluded.node
    WHERE NOT EXISTS (SELECT FROM nodes WHERE name || '.' || epoch = homes.node AND alive)
    RETURNING node"""
HOME = "SELECT node FROM homes WHERE key = $1"
GIVE = """UPDATE homes SET node = $3 WHERE key = $1 AND node = $2
    AND EXISTS (SELECT FROM nodes WHERE name || '.' || epoch = $3 AND alive)"""
NO_HOMES = "0"
DIGEST = "SELECT coalesce(sum(hashtextextended(key || ' ' || node, 0)), 0)::text FROM homes"
HOMES = f"SELECT key, node, ({DIGEST}) FROM homes"


class Node(Struct, frozen=True):
    """A node that is not known to be dead."""

    name: str
    epoch: int
    machine: str
    """Nodes with the same value can pass sockets to each other."""
    handover: str
    """The Unix socket on which it takes sockets; empty: it takes none."""
    version: str
    url: str = ""
    """Its own HTTP address, for people."""
    draining: bool = False
    """It takes no new matches, because it is about to stop."""
    load: dict[str, float] = {}
    """Tables, connections, waiting clients, CPU time.

    `Placement` reads the tables, people the rest.
    """
    pipes: str = ""
    """Where it takes pipes: `HOST:PORT#` and the hash of its certificate, if it has one."""
    messages: int = 0
    """The version of its messages to other nodes."""
    beat: int = 0
    """Changes with each beat."""
    age: int = 0
    """Milliseconds since that beat."""
    locked: bool = False

    @property
    def id(self) -> str:
        return f"{self.name}.{self.epoch}"


class CannotJoin(Exception):
    """The node cannot join the cluster; the text says why."""


_load = msgspec.json.Decoder(dict[str, float])


def node_of(row: Any) -> Node:
    pipes, _, handover = row["handover"].partition(" ")
    parts = {"load": _load.decode(row["load"]), "pipes": pipes, "handover": handover}
    return Node(**dict(row) | parts)


@asynccontextmanager
async def explained() -> AsyncIterator[None]:
    try:
        yield
    except ERRORS as error:
        raise StoreUnavailable(str(error) or type(error).__name__) from error


class NodeRows:
    """A connection to the rows, which holds the lock of this node."""

    def __init__(self, source: Source) -> None:
        self._url = source.place
        self._connection: Any = None
        self._in_turn = asyncio.Lock()
        self.on_news: Callable[[], None] = lambda: None
        """Called when another node tells news, and when the connection is lost."""
        self.cluster = ""
        """A random name that all nodes of this store know, and no others."""
        self.secret = ""
        """The same, but it is never sent to other nodes."""

    async def join(self, node: Node, death: float) -> int:
        """Enter a node, and return its epoch.

        `death` is the time after which a node without beats is dead.
        """
        async with self._explained():
            await self._connect()
            await self._run(
                f"SELECT pg_advisory_lock({LOCKS}, $1)", JOINING, timeout=60 + 2 * death
            )
            await self._wait_for_locks(death)
            await self._check_messages(node)
            await self._end_predecessor(node.name, death)
            await self._claim_from_single_servers()
            epoch = int(await self._get("SELECT coalesce(max(epoch), 0) + 1 FROM nodes"))
            await self._lock(epoch)
            place = node.machine, node.handover, node.version, node.messages, node.url
            await self._run(JOIN, node.name, epoch, *place, node.draining, as_json(node.load))
            await self._run(CLEAN, FORGET, node.name)
            self.cluster = await self._get(CLUSTER, "cluster", token_hex(8))
            self.secret = await self._get(CLUSTER, "secret", token_hex(32))
            await self._run(f"SELECT pg_advisory_unlock({LOCKS}, $1)", JOINING)
            await self._run(TELL)
            return epoch

    async def reconnect(self, epoch: int) -> bool:
        """Open a lost connection again. Return whether it was lost."""
        if self._connection is not None and not self._connection.is_closed():
            return False
        async with self._explained():
            await self._connect()
            await self._lock(epoch)
            return True

    async def beat(self, name: str, epoch: int, load: dict[str, float]) -> tuple[list[Node], str]:
        """Return all nodes that are not known to be dead, and a digest of the homes.

        Raise Fenced if this one is.
        """
        async with self._explained():
            rows = await self._connection.fetch(BEAT, name, epoch, as_json(load))
            if not rows:
                raise Fenced(FENCED.format(name, epoch))
            return [node_of(row) for row in rows], str(await self._get(DIGEST))

    async def homes(self) -> tuple[dict[str, str], str]:
        """Return all homes by key, and their digest."""
        async with self._explained():
            rows = await self._connection.fetch(HOMES)
            return {row[0]: row[1] for row in rows}, rows[0][2] if rows else NO_HOMES

    async def outlive(self, epoch: int) -> None:
        """Wait until the process that holds this lock has ended, or lost its connection."""
        async with explained():
            connection = await connect(self._url, "botdrome watch", patience=None)
            try:
                await connection.execute(f"SELECT pg_advisory_lock_shared({LOCKS}, $1)", epoch)
            finally:
                connection.terminate()

    async def claim(self, of: str, node: str) -> str | None:
        """Make a node the home of a key, unless a live one is.

        Return the home; None: that node is dead.
        """
        async with self._explained():
            return await self._get(CLAIM, key(of), node) or await self._get(HOME, key(of))  # type: ignore[no-any-return]

    async def give(self, of: str, node: str, to: str) -> None:
        """Make another node the home of a key, unless that node is dead or this one is not the
        home.
        """
        await self._tell(GIVE, key(of), node, to)

    async def bury(self, name: str, epoch: int) -> bool:
        """Declare a node dead: raise its epoch, and free its homes. False: another node did."""
        async with self._explained():
            won = await self._bury(name, epoch)
            await self._run(TELL)
            return won

    async def _bury(self, name: str, epoch: int) -> bool:
        """A process that froze in a transaction holds the row of its node, since each transaction
        makes sure that its node lives.
        """
        won = asyncio.ensure_future(self._get(BURY, name, epoch))
        try:
            if not (await asyncio.wait([won], timeout=BLOCKED))[0]:
                other = await connect(self._url, "botdrome bury")
                try:
                    await other.execute(UNBLOCK, self._connection.get_server_pid())
                finally:
                    other.terminate()
            return await won is not None
        finally:
            won.cancel()

    async def change(self, name: str, epoch: int, url: str, handover: str, draining: bool) -> None:
        await self._tell(CHANGE, name, epoch, url, handover, draining)

    async def drain(self, name: str, draining: bool) -> bool:
        """False: there is no such node."""
        return await self._tell(DRAIN, name, draining) is not None

    async def leave(self, name: str, epoch: int) -> None:
        """Leave in good order, if the store can be reached; else the others notice later."""
        with suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout(GOODBYE):
                await self.bury(name, epoch)
        self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.terminate()

    # Joining.

    async def _wait_for_locks(self, death: float) -> None:
        """After a start of PostgreSQL nobody holds a lock: let live nodes take theirs again."""
        while (uptime := await self._get(UPTIME)) < death:
            await asyncio.sleep(death - uptime)

    async def _check_messages(self, node: Node) -> None:
        for other in await self._connection.fetch(SEEN):
            if (
                other["locked"]
                and other["messages"] != node.messages
                and other["name"] != node.name
            ):
                raise CannotJoin(
                    f"node {other['name']} runs Botdrome {other['version']} with version "
                    f"{other['messages']} of the messages"
                    f" between nodes, but this is {node.version} with version {node.messages}: "
                    "stop the other nodes first"
                )

    async def _end_predecessor(self, name: str, death: float) -> None:
        """Declare the node dead that had this name. Raise CannotJoin if it lives."""
        before = await self._of_name(name)
        until = asyncio.get_running_loop().time() + death
        while before is not None and before["locked"] and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(death / 10)
            now = await self._of_name(name)
            if (
                now is not None
                and now["epoch"] == before["epoch"]
                and now["beat"] != before["beat"]
            ):
                raise CannotJoin(
                    f"a node with the name {name} lives already ({now['url']}): choose another "
                    "cluster.name"
                )
            before = None if now is None else before
        if before is not None:
            await self._bury(name, before["epoch"])

    async def _of_name(self, name: str) -> Any:
        return await self._connection.fetchrow(f"{SEEN} AND name = $1", name)

    async def _claim_from_single_servers(self) -> None:
        claim = Claim(partial(connect, self._url))
        try:
            if not await claim.take():
                raise CannotJoin("a server outside the cluster uses this store: stop it first")
        finally:
            await claim.close()

    # The connection.

    async def _connect(self) -> None:
        self._connection = await connect(self._url, "botdrome node")
        await self._connection.add_listener(CHANNEL, lambda *_: self.on_news())
        self._connection.add_termination_listener(lambda *_: self.on_news())

    async def _lock(self, epoch: int) -> None:
        """Take the lock, also from a lost connection that PostgreSQL still thinks open."""
        await self._run(
            f"SELECT pg_terminate_backend(pid) FROM ({HELD}) AS held WHERE number = $1", epoch
        )
        await self._run(f"SELECT pg_advisory_lock({LOCKS}, $1)", epoch)

    async def _tell(self, statement: str, *values: Any) -> Any:
        """Change rows, and have all nodes look at them."""
        async with self._explained():
            found = await self._get(statement, *values)
            await self._run(TELL)
            return found

    async def _get(self, statement: str, *values: Any) -> Any:
        return await self._connection.fetchval(statement, *values)

    async def _run(self, statement: str, *values: Any, **options: Any) -> None:
        await self._connection.execute(statement, *values, **options)

    @asynccontextmanager
    async def _explained(self) -> AsyncIterator[None]:
        try:
            async with explained(), self._in_turn:
                yield
        except StoreUnavailable as problem:
            if not isinstance(problem, Fenced):
                self.close()
            raise


# Input rows: the inputs of the running matches of a node, in PostgreSQL.
#
# Each row has all inputs of some milliseconds.

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
RUNNING = "SELECT id FROM matches WHERE id = ANY ($1::text[]) AND status = 'running'"

RELEASE = f"""{OWN}UPDATE matches
    SET former = trim(coalesce(former, '') || ' ' || node), node = '{RELEASED}'
    WHERE id = ANY ($3::text[]) AND node = $1 || '.' || $2::bigint AND status = 'running'
    AND EXISTS (SELECT FROM own)"""

CLEAN_INPUTS = """DELETE FROM inputs USING (
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

    def __init__(self, url: str, shown: str, node: str, epoch: int) -> None:
        super().__init__(url, shown)
        self._node, self._epoch = node, epoch
        self._writing: Any = None
        """The connection that writes rows, and its statement: taking them from the pool costs more
        than writing.
        """
        self._statement: Any = None

    async def open(self) -> None:
        async with self._explained():
            commit = {"synchronous_commit": "off"}  # a row outlives its node, not PostgreSQL
            self._writer = await self._pool(2, commit)

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

    async def running(self, match_ids: Sequence[str]) -> set[str]:
        """Return those of the matches that run."""
        async with self._explained():
            return {row[0] for row in await self._writer.fetch(RUNNING, list(match_ids))}

    async def read(self, node: str, epoch: int) -> list[tuple[int, bytes]]:
        """Return the rows of any node with their numbers, in their order."""
        async with self._explained():
            return [(row[0], row[1]) for row in await self._writer.fetch(READ, node, epoch)]

    async def release(self, match_ids: Sequence[str]) -> None:
        """Give up running matches of this node, so that another one can adopt them.

        If this raises StoreUnavailable, it may have happened or not. It can be done again.
        """
        async with self._explained():
            await self._writer.execute(RELEASE, self._node, self._epoch, list(match_ids))

    async def clean(self) -> None:
        """Delete the rows of dead nodes whose matches are all over."""
        async with self._explained():
            await self._writer.execute(CLEAN_INPUTS)
