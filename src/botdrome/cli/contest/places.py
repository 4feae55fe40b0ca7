"""Contests as commands name them: by a document or by a store."""

import asyncio
import getpass
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from botdrome.cli.terminal import REFUSED, CommandError, complain
from botdrome.client.program import CannotStart
from botdrome.contest.document import EXAMPLE, BadDocument, ContestDocument, read_document
from botdrome.store.contest_journal import (
    ContestJournal,
    ContestRefusal,
    ContestState,
    StoredContest,
    UnknownContest,
)
from botdrome.store.opening import open_store
from botdrome.store.store import BadStoreUrl, Store, StoreUnavailable

SQLITE = "sqlite:///"


class ContestPlace(Struct, frozen=True):
    """Where a contest is."""

    shown: str
    """As it was given, for messages."""
    url: str
    """The store."""
    folder: Path
    """The folder to which the paths of bots are relative."""
    name: str = ""
    """Empty: the only contest of the store."""
    document: ContestDocument | None = None

    def store_files(self) -> list[Path]:
        """Return the files of the store, if it is in this folder."""
        file = Path(self.url.removeprefix(SQLITE))
        return [*file.parent.glob(f"{file.name}*")] if self.url.startswith(SQLITE) else []


class ContestControl(Protocol):
    """What an organiser does with a contest, wherever it is."""

    name: str

    async def load(self) -> StoredContest: ...

    async def change_state(self, state: ContestState) -> None: ...


class ContestHere:
    """A contest in a store of this machine."""

    def __init__(self, store: Store, name: str, place: ContestPlace) -> None:
        self.store, self.name, self.place, self.journal = store, name, place, ContestJournal(store)

    @property
    def author(self) -> str:
        """The owner in the document, or the user of this machine."""
        document = self.place.document
        return document.owner if document and document.owner else _user()

    async def load(self) -> StoredContest:
        return await self.journal.load(self.name)

    async def change_state(self, state: ContestState) -> None:
        await self.journal.change_state(self.name, state, self.author)

    async def claim(self) -> None:
        """Raise CommandError if another process runs the contest, or serves its store."""
        if not await self.store.claim():
            raise CommandError(
                "another process runs this contest or serves its store; pause it: "
                f"{self.command('pause')}"
            )

    def command(self, word: str) -> str:
        """Return a command for this contest, to tell the user."""
        name = f" {self.name}" if self.place.name and not self.place.document else ""
        return f"botdrome contest {word} {self.place.shown}{name}"


def place_of(words: str, name: str = "", db: str = "") -> ContestPlace:
    """Raise BadDocument for a document that is not valid, OSError if it cannot be read."""
    path = Path(words)
    if path.suffix == ".toml":
        document = document_in(path)
        if name not in ("", document.name):
            raise CommandError(f"{words} is the document of {document.name!r}, not of {name!r}")
        return ContestPlace(
            words,
            store_at(db or str(path.with_suffix(".db"))),
            path.resolve().parent,
            document.name,
            document,
        )
    url = store_at(db or words)
    folder = (
        Path(url.removeprefix(SQLITE)).resolve().parent if url.startswith(SQLITE) else Path.cwd()
    )
    return ContestPlace(words, url, folder, name)


def store_at(words: str) -> str:
    """Return the URL of a store that may be given as a file."""
    return words if "://" in words else f"{SQLITE}{Path(words).resolve()}"


def document_in(file: Path) -> ContestDocument:
    return read_document(file.read_text())


@asynccontextmanager
async def opened(place: ContestPlace, new: bool = False) -> AsyncIterator[ContestHere]:
    """Open the store of a contest; `new`: it may be created."""
    file = Path(place.url.removeprefix(SQLITE))
    if place.url.startswith(SQLITE) and not file.exists() and not new:
        raise CommandError(
            f"there is no store {file}; `botdrome contest run` with its document begins a contest"
        )
    store = await open_store(place.url)
    try:
        names = [place.name] if place.name else [*await ContestJournal(store).contests()]
        if len(names) != 1:
            there = f"there are {', '.join(names)}" if names else "there is none"
            raise CommandError(f"name one contest of {place.shown}; {there}")
        yield ContestHere(store, names[0], place)
    finally:
        await store.close()


def attempt(words: str, work: Callable[[], int | Coroutine[Any, Any, int]]) -> int:
    """Do the work of a command, and return its status.

    Errors are told in one line; those of a document with an example.
    """
    try:
        done = work()
        return done if isinstance(done, int) else asyncio.run(done)
    except BadDocument as bad:
        complain(f"{words}: {bad}\nThis document is correct:\n\n{EXAMPLE}")
        return REFUSED
    except CommandError as problem:
        complain(problem)
        return REFUSED
    except UnicodeDecodeError as problem:
        complain(f"{words}: this is no text: {problem}")
        return REFUSED
    except (ContestRefusal, UnknownContest, CannotStart, BadStoreUrl, StoreUnavailable) as problem:
        complain(problem.args[0] if problem.args else problem)
        return 1
    except OSError as error:
        complain(f"{error.filename or words}: {error.strerror}")
        return 1


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"
