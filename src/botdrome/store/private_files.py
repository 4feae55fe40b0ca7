"""Files that only their owner can read."""

import os
import stat
from contextlib import suppress
from pathlib import Path

import structlog

log = structlog.get_logger()


def open_private(path: str | Path, flags: int) -> int:
    """Open a file, which only its owner can read if it is new."""
    return os.open(path, flags, 0o600)


def make_private(path: Path) -> None:
    """Let only the owner read a store, since it has the seeds of running matches.

    Create it if there is none.

    SQLite gives the files that it makes beside it the same mode.
    """
    with suppress(OSError):  # SQLite says what is wrong
        os.close(open_private(path, os.O_RDWR | os.O_CREAT))
    for ending in ("", "-wal", "-shm", "-journal", "-server"):
        file = path.with_name(path.name + ending)
        try:
            mode = file.stat().st_mode
            if (
                stat.S_ISREG(mode) and mode & 0o077
            ):  # a folder in the place of a store may be anybody's, such as /tmp
                file.chmod(stat.S_IMODE(mode) & ~0o077)
        except FileNotFoundError:
            continue
        except OSError as problem:
            log.warning(
                "other users of this machine can read the store",
                file=str(file),
                problem=str(problem),
            )
