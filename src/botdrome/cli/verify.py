"""`botdrome verify`: match files played again."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from botdrome.cli.files import load
from botdrome.match.reader import verify
from botdrome.match.record import BadRecord


def verify_files(paths: Sequence[Path]) -> int:
    """0 if all of them hold, else 1."""
    console = Console(highlight=False, soft_wrap=True)
    good = [_holds(path, console) for path in paths]
    return 0 if all(good) else 1


def _holds(path: Path, console: Console) -> bool:
    try:
        record, game = load(path)
        verify(record, game)
    except (BadRecord, OSError) as problem:
        console.print(f"[bold red]{path}[/]: {problem}")
        return False
    unfinished = "" if record.result else "; the match has no result yet"
    console.print(f"[green]{path}[/]: {len(record.lines)} inputs hold{unfinished}")
    return True
