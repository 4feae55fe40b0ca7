"""SQLite: one thread that writes, one that reads, each with a connection of its own to a file in WAL mode."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Executable, bindparam, insert, update
from sqlalchemy.dialects import sqlite

from botdrome.store import queries, schema
from botdrome.store.changes import Change, Outcome, carried_out
from botdrome.store.rows import Row
from botdrome.store.steps import Alter, Find, Lock, Prepared, Put, Run, Step, Take, Values, followed, preparer
from botdrome.store.store import StoreUnavailable, Unstorable

T = TypeVar("T")

PATIENCE = 10_000
"""Milliseconds to wait for another process that is writing."""
SETTINGS = ("journal_mode = WAL", "synchronous = FULL", f"busy_timeout = {PATIENCE}", "foreign_keys = ON", "cache_size = -32000")

prepared = preparer(sqlite.dialect())


@cache
def _put(put: type[Put]) -> Prepared: ...
