"""The tokens of a user's bots, kept in the user's config folder."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct


class KeptBot(Struct, frozen=True):
    game: str
    token: str


Servers = dict[str, dict[str, KeptBot]]
"""The bots of each server, by name."""


class UnusableTokens(Exception):
    """The file of tokens cannot be read or written; the text says why."""


def tokens_file() -> Path:
    folder = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(folder) / "botdrome" / "tokens.json"


def kept_bots() -> Servers:
    """Return all bots whose tokens are kept. Raise UnusableTokens if the file is damaged."""
    file = tokens_file()
    try:
        return msgspec.json.decode(file.read_bytes(), type=Servers)
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise UnusableTokens(f"{file}: {problem.strerror}") from None
    except msgspec.DecodeError as problem:
        raise UnusableTokens(f"{file} is damaged ({problem}); move it away to start anew") from None


@contextmanager
def changing_tokens() -> Iterator[Servers]:
    """Yield the kept bots, and write them when the block ends without an exception.

    Only one process at a time is inside.
    """
    file = tokens_file()
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(file.with_suffix(".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as problem:
        raise UnusableTokens(f"{problem.filename}: {problem.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        servers = kept_bots()
        yield servers
        _write(file, servers)
    finally:
        os.close(lock)


def _write(file: Path, servers: Servers) -> None:
    """Replace the file at once, so that a reader sees the old one or the new one."""
    try:
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as new:  # mode 0600
            new.write(msgspec.json.format(msgspec.json.encode(servers)) + b"\n")
            new.flush()
            os.fsync(new.fileno())
        Path(new.name).replace(file)
    except OSError as problem:
        raise UnusableTokens(f"{file}: {problem.strerror}") from None
