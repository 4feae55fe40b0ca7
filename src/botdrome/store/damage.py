"""Damage: what a store has lost for good, unlike a store that is away for a time."""

import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from threading import Timer
from typing import Any

import structlog
from msgspec import DecodeError

from botdrome.store.rows import match_entry
from botdrome.store.store import MatchEntry, StoreUnavailable, Unstorable

log = structlog.get_logger()

CHECKING = 5.0
"""Seconds for the check of an SQLite file when a server starts."""
RESTORE = "put the last copy that `botdrome backup FILE` wrote in its place"
UNREADABLE = (DecodeError, LookupError, TypeError, ValueError, zlib.error)
"""Errors of values that no version of Botdrome has written."""


class StoreDamaged(StoreUnavailable):
    """The database says that its file is damaged."""


class BrokenMatch(Exception):
    """What is stored of a match is damaged. The text is for people."""


@contextmanager
def of_match(match_id: str) -> Iterator[None]:
    """Raise BrokenMatch if what is stored of a match cannot be read."""
    try:
        yield
    except Unstorable:
        raise  # the id is to blame
    except (StoreDamaged, *UNREADABLE) as problem:
        log.error(
            "a match is broken in the store",
            match=match_id,
            problem=f"{type(problem).__name__}: {problem}",
        )
        raise BrokenMatch(
            f"match {match_id} is broken: the store is damaged there; its operator may have a "
            "backup"
        ) from problem


def readable(rows: Sequence[Sequence[Any]]) -> list[MatchEntry]:
    """Return the matches that can be read."""
    try:
        return [match_entry(row) for row in rows]
    except UNREADABLE:
        return [entry for row in rows if (entry := _if_readable(row)) is not None]


def _if_readable(row: Sequence[Any]) -> MatchEntry | None:
    try:
        return match_entry(row)
    except UNREADABLE as problem:
        log.error("a match is broken in the store", match=str(row[0]), problem=str(problem))
        return None


def is_damage(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", -1) & 0xFF in (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
    )


def check_file(connection: sqlite3.Connection, shown: str, seconds: float = CHECKING) -> None:
    """Raise StoreDamaged if an SQLite file is damaged, as far as it can be checked in this time."""
    given_up: list[bool] = []

    def give_up() -> None:
        given_up.append(True)
        connection.interrupt()

    timer = Timer(seconds, give_up)
    timer.start()
    with closing(connection):
        try:
            problem = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
        except sqlite3.Error as error:
            problem = (
                str(error) if is_damage(error) else "ok"
            )  # other errors are told when it is opened
        finally:
            timer.cancel()
            timer.join()
    if given_up:
        log.info("the store is large, so only a part of it was checked", seconds=seconds)
    elif problem != "ok":
        raise StoreDamaged(f"{shown} is damaged ({problem.splitlines()[-1]}); {RESTORE}")
