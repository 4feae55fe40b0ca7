"""Files: match files from the disk, with the game that they are about."""

from pathlib import Path
from typing import Any

from botdrome.formats import FORMATS
from botdrome.games.game import BadOption, Game
from botdrome.games.options import with_options
from botdrome.match.reader import read
from botdrome.match.record import BadRecord, Record


def load(path: Path) -> tuple[Record, Game[Any]]:
    """The record and its game, set up as it was; BadRecord or OSError with the reason."""
    record = read(path.read_bytes())
    row = FORMATS.get(record.setup.game)
    if row is None:
        raise BadRecord(1, f"there is no game {record.setup.game!r}")
    try:
        return record, with_options(row.game, record.setup.options)
    except BadOption as problem:
        raise BadRecord(1, str(problem)) from None
