"""Errors of a database that is away, after which a change is tried again, and errors of a change,
which fails alone.
"""

import sqlite3

import asyncpg  # type: ignore[import-untyped]
import pytest

from botdrome.store import postgres, sqlite


def an_error(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("an error")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    "code",
    [
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_IOERR_FSYNC,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_CORRUPT,
    ],
)
def test_a_file_that_is_away(code: int) -> None:
    assert sqlite.is_away(an_error(code))


@pytest.mark.parametrize(
    "code",
    [
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_TOOBIG,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_MISMATCH,
    ],
)
def test_a_change_that_sqlite_does_not_take(code: int) -> None:
    assert not sqlite.is_away(an_error(code))


def test_an_error_of_python_s_own_is_one_of_the_change() -> None:
    assert not sqlite.is_away(sqlite3.OperationalError("Could not decode to UTF-8"))


@pytest.mark.parametrize(
    "error",
    [
        asyncpg.ConnectionDoesNotExistError,
        asyncpg.AdminShutdownError,
        asyncpg.CrashShutdownError,
        asyncpg.CannotConnectNowError,
        asyncpg.DiskFullError,
        asyncpg.OutOfMemoryError,
        asyncpg.TooManyConnectionsError,
        asyncpg.ReadOnlySQLTransactionError,
        asyncpg.QueryCanceledError,
        asyncpg.DeadlockDetectedError,
        asyncpg.SerializationError,
        asyncpg.LockNotAvailableError,
        asyncpg.PostgresIOError,
        asyncpg.InvalidPasswordError,
        asyncpg.InsufficientPrivilegeError,
        asyncpg.InternalServerError,
    ],
)
def test_a_server_that_is_away(error: type[Exception]) -> None:
    assert postgres.is_away(error("an error"))


@pytest.mark.parametrize(
    "error",
    [
        asyncpg.UniqueViolationError,
        asyncpg.NumericValueOutOfRangeError,
        asyncpg.CharacterNotInRepertoireError,
        asyncpg.ProgramLimitExceededError,
        asyncpg.UndefinedTableError,
        asyncpg.PostgresError,
    ],
)
def test_a_change_that_postgresql_does_not_take(error: type[Exception]) -> None:
    assert not postgres.is_away(error("an error"))
