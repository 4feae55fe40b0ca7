"""The statements that migrate a database, empty or not, to the current schema.

Alembic writes them to a buffer instead of running them, so that they use the connection of the
store.
"""

from pathlib import Path
from threading import Lock
from typing import Any, TextIO, cast

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError

from botdrome.store.store import StoreUnavailable

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
