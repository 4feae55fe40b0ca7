"""`botdrome verify`: match files played again."""

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from botdrome.cli.terminal import Terminal
from botdrome.formats import restored
from botdrome.match.record import BadRecord, verify


def verify_files(paths: Sequence[Path]) -> int:
    """0 if all of them hold, else 1."""
    console = Terminal(soft_wrap=True)
    good = [_holds(path, console) for path in paths]
    return 0 if all(good) else 1


def _holds(path: Path, console: Terminal) -> bool:
    try:
        record, game = restored(path.read_bytes())
        verify(record, game)
    except (BadRecord, OSError) as problem:
        console.print(Text(str(path), "bold red").append(f": {problem}", "not bold default"))
        return False
    unfinished = "" if record.result else "; the match has no result yet"
    console.print(Text(str(path), "green").append(f": {len(record.lines)} inputs hold{unfinished}", "default"))
    return True
