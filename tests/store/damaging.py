"""Damage to SQLite stores."""

import sqlite3
from contextlib import closing
from pathlib import Path

from botdrome.store.store import open_store
from tests.store.entries import a_match, play

RECORD = b'{"botdrome":1}\n' + b"\n".join(
    b"line %d of a long record" % number for number in range(5000)
)
PAGE = 4096


def file_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


async def damage_record(url: str, match_id: str) -> None:
    """Store a match whose record needs several pages, and damage one of them: its link to the next
    page leads nowhere.
    """
    store = await open_store(url)
    await play(store, a_match(match_id), record=RECORD)
    await store.close()
    data = bytearray(file_of(url).read_bytes())
    page = data.index(b"line 2500 of") // PAGE * PAGE
    data[page : page + 4] = b"\xff\xff\xff\xff"
    file_of(url).write_bytes(data)


def make_unreadable(url: str, match_id: str) -> None:
    """Write what no version of Botdrome has written into the rows of a match."""
    with closing(sqlite3.connect(file_of(url))) as store, store:
        store.execute("UPDATE matches SET players = '[\"ada' WHERE id = ?", [match_id])
        number = "SELECT number FROM matches WHERE id = ?"
        store.execute(f"UPDATE records SET flights = x'00' WHERE number = ({number})", [match_id])
