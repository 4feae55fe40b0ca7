"""The tables of the database.

Matches have ascending numbers, since short keys keep the large tables small.

A change here needs a migration beside it; a test compares the two.
"""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any, TextIO, cast

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import (
    BigInteger,
    BindParameter,
    Boolean,
    Column,
    ColumnElement,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    any_,
    bindparam,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine

from botdrome.store.store import StoreUnavailable

metadata = MetaData()

RELEASED = "-"
"""In place of a node: the match has no owner, since it moves from one node to another.

Either of them adopts it.
"""

SMALL_TEXT: TypeEngine[str] = Text().with_variant(Text(collation="C"), "postgresql")
"""Compared and sorted by bytes in every database. Short enough for an index: see `rows`."""
NUMBER: TypeEngine[int] = BigInteger().with_variant(Integer(), "sqlite")


def _number_of_match() -> Column[int]:
    return Column(
        "number",
        NUMBER,
        ForeignKey("matches.number", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    )


bots = Table(
    "bots",
    metadata,
    Column("name", SMALL_TEXT, primary_key=True),
    Column("name_whole", Text),
    Column("game", SMALL_TEXT, nullable=False),
    Column("owner", SMALL_TEXT, nullable=False),
    Column("owner_whole", Text),
    Column("registered", BigInteger, nullable=False),
    Column("token_hash", Text),
    Column("url", Text),
    Column("likeness", SMALL_TEXT),
)

matches = Table(
    "matches",
    metadata,
    Column("number", NUMBER, primary_key=True),
    Column("id", SMALL_TEXT, nullable=False, unique=True),
    Column("game", SMALL_TEXT, nullable=False),
    Column("contest", SMALL_TEXT),
    Column("contest_whole", Text),
    Column("started", BigInteger, nullable=False),
    Column("seed", Text, nullable=False),
    Column("options", Text, nullable=False),
    Column("players", Text, nullable=False),
    Column("owners", Text),
    Column("pace", SMALL_TEXT),
    Column("node", SMALL_TEXT, nullable=False, server_default=""),
    Column("former", Text),
    Column("versions", Text),
    Column("status", SMALL_TEXT, nullable=False),
    Column("ended", BigInteger),
    Column("result", Text),
    Column("view", Text),
    Column("reason", Text, nullable=False),
)

seats = Table(
    "seats",
    metadata,
    _number_of_match(),
    Column("player", Integer, primary_key=True, autoincrement=False),
    Column("name", SMALL_TEXT, nullable=False),
    Column("name_whole", Text),
    Column("started", BigInteger, nullable=False),
    Column("place", Integer),
    Column("score", Double),
    Column("cause", Text),
    sqlite_with_rowid=False,
    postgresql_with={"fillfactor": 70},  # leave room to update each seat once in place
)

records = Table(
    "records",
    metadata,
    _number_of_match(),
    Column("record", LargeBinary, nullable=False),
    Column("flights", LargeBinary, nullable=False),
    postgresql_with={
        "toast_tuple_target": 8160
    },  # below that, compression costs more than it saves
)

notes = Table(
    "notes",
    metadata,
    Column("book", SMALL_TEXT, primary_key=True),
    Column("name", SMALL_TEXT, primary_key=True),
    Column("name_whole", Text),
    Column("value", Text, nullable=False),
)

heartbeats = Table(
    "heartbeats",
    metadata,
    Column("name", SMALL_TEXT, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("beat", BigInteger, nullable=False),
)

inputs = Table(
    "inputs",
    metadata,
    Column("node", SMALL_TEXT, primary_key=True),
    Column("epoch", BigInteger, primary_key=True, autoincrement=False),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
)

nodes = Table(
    "nodes",
    metadata,
    Column("name", SMALL_TEXT, primary_key=True),
    Column("epoch", BigInteger, nullable=False),
    Column("alive", Boolean, nullable=False),
    Column("messages", Integer, nullable=False),
    Column("machine", Text, nullable=False),
    Column("handover", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("draining", Boolean, nullable=False),
    Column("beat", BigInteger, nullable=False),
    Column("load", Text, nullable=False),
)

homes = Table(
    "homes",
    metadata,
    Column("key", SMALL_TEXT, primary_key=True),
    Column("node", SMALL_TEXT, nullable=False),
)

_IN_A_CONTEST = text("contest IS NOT NULL")
_RUNNING = text("status = 'running'")

Index("bots_by_likeness", bots.c.likeness)
Index("matches_by_time", matches.c.started, matches.c.number)
Index("matches_by_game", matches.c.game, matches.c.started, matches.c.number)
Index(
    "matches_by_contest",
    matches.c.game,
    matches.c.contest,
    matches.c.started,
    sqlite_where=_IN_A_CONTEST,
    postgresql_where=_IN_A_CONTEST,
)
Index(
    "matches_running",
    matches.c.started,
    matches.c.number,
    sqlite_where=_RUNNING,
    postgresql_where=_RUNNING,
)
Index(
    "nodes_by_epoch", nodes.c.name, nodes.c.epoch, unique=True
)  # so that FOR KEY SHARE blocks a new epoch, and no beat
Index("seats_by_name", seats.c.name, seats.c.started, seats.c.number)


class Listed(ColumnElement[bool]):
    """Whether a column is in a list of texts that is bound as one value, so that one query serves
    any length.
    """

    inherit_cache = False

    def __init__(self, column: ColumnElement[str], name: str) -> None:
        self.column = column
        self.texts: BindParameter[Sequence[str]] = bindparam(name, type_=ARRAY(Text))


@compiles(Listed, "postgresql")
def _any_of_array(element: Listed, compiler: SQLCompiler, **how: Any) -> str:
    return compiler.process(element.column == any_(element.texts), **how)


@compiles(Listed, "sqlite")
def _in_json(element: Listed, compiler: SQLCompiler, **how: Any) -> str:
    column, texts = compiler.process(element.column, **how), compiler.process(element.texts, **how)
    return f"{column} IN (SELECT value FROM json_each({texts}))"


# The statements that migrate a database, empty or not, to the current schema.
#
# Alembic writes them to a buffer instead of running them, so that they use the connection of the
# store.

_one_at_a_time = Lock()
"""Alembic's operations are global to the process."""
VERSION_TABLE = "alembic_version"
VERSION = f"SELECT version_num FROM {VERSION_TABLE}"


class _Statements:
    """A file for Alembic, which writes each statement at once."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def write(self, text: str) -> None:
        if not text.startswith("--"):
            self.texts.append(text.strip())

    def flush(self) -> None:
        pass


def statements(dialect: str, version: str | None) -> list[str]:
    """Return the statements from a version (None: an empty database) to the newest."""
    migrations, written = _migrations(), _Statements()

    def upgrade(revision: Any, _: MigrationContext) -> Any:
        return migrations._upgrade_revs("head", revision)

    options = {
        "as_sql": True,
        "output_buffer": cast(TextIO, written),
        "fn": upgrade,
        "starting_rev": version,
        "version_table": VERSION_TABLE,
    }
    context = MigrationContext.configure(dialect_name=dialect, opts=options)
    try:
        with _one_at_a_time, Operations.context(context):
            context.run_migrations()
    except CommandError:
        raise StoreUnavailable("it was written by a newer version of Botdrome") from None
    return written.texts


def _migrations() -> ScriptDirectory:
    return ScriptDirectory(Path(__file__).parent / "migrations")
