"""The tokens of a user's bots and its owner tokens, kept in the user's config folder."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct


class KeptBot(Struct, frozen=True):
    game: str
    token: str


class KeptOwner(Struct, frozen=True):
    """The user as a participant of a class."""

    class_name: str
    name: str
    token: str


Servers = dict[str, dict[str, KeptBot]]
"""The bots of each server, by name."""
Owners = dict[str, KeptOwner]
"""By server."""


class UnusableTokens(Exception):
    """The file of tokens cannot be read or written; the text says why."""


def tokens_file() -> Path:
    folder = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(folder) / "botdrome" / "tokens.json"


def owners_file() -> Path:
    return tokens_file().with_name("owners.json")


def kept_bots() -> Servers:
    """Return all bots whose tokens are kept. Raise UnusableTokens if the file is damaged."""
    found: Servers = _read(tokens_file(), Servers)
    return found


def kept_owners() -> Owners:
    """Return the user's participants. Raise UnusableTokens if the file is damaged."""
    found: Owners = _read(owners_file(), Owners)
    return found


def changing_tokens() -> AbstractContextManager[Servers]:
    return _changing(tokens_file(), Servers)


def changing_owners() -> AbstractContextManager[Owners]:
    return _changing(owners_file(), Owners)


def _read(file: Path, kind: Any) -> Any:
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise UnusableTokens(f"{file}: {problem.strerror}") from None
    except msgspec.DecodeError as problem:
        raise UnusableTokens(f"{file} is damaged ({problem}); move it away to start anew") from None


@contextmanager
def _changing(file: Path, kind: Any) -> Iterator[Any]:
    """Yield what a file keeps, and write it when the block ends without an exception.

    Only one process at a time is inside.
    """
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(file.with_suffix(".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as problem:
        raise UnusableTokens(f"{problem.filename}: {problem.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kept = _read(file, kind)
        yield kept
        _write(file, kept)
    finally:
        os.close(lock)


def _write(file: Path, kept: Any) -> None:
    """Replace the file at once, so that a reader sees the old one or the new one."""
    try:
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as new:  # mode 0600
            new.write(msgspec.json.format(msgspec.json.encode(kept)) + b"\n")
            new.flush()
            os.fsync(new.fileno())
        Path(new.name).replace(file)
    except OSError as problem:
        raise UnusableTokens(f"{file}: {problem.strerror}") from None
