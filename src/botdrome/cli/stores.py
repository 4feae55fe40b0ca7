"""Stores: which one a command is about."""

from pathlib import Path

from botdrome.server.settings import Settings
from botdrome.store.store import StoreUnavailable

SQLITE = "sqlite:///"


def store_url(db: str) -> str:
    """As for the server; nothing: that of the user."""
    return Settings(db=db).store_url


def existing(url: str) -> str:
    """Whoever only looks makes no store. A PostgreSQL database has to be there in any case."""
    file = url.removeprefix(SQLITE)
    if url.startswith(SQLITE) and not Path(file).exists():
        raise StoreUnavailable(f"{url}: there is no such store")
    return url
