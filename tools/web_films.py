"""Write the films for the tests of the pages, from the golden match files and from a match with
many errors.

python -m tools.web_films
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from botdrome.api.replays import film_of_file
from botdrome.catalogue import CATALOGUE, restored
from botdrome.games.game import View
from botdrome.match.film import SNAPSHOTS
from botdrome.match.match import Match
from botdrome.match.record import match_file, replay

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "web" / "test" / "films"
GOLDEN = ROOT / "tests" / "golden" / "version_2"


def films() -> Iterator[tuple[Path, bytes]]:
    """Yield each file with its contents."""
    views = {}
    golden = [
        (name, file.read_bytes())
        for name in CATALOGUE
        if (file := GOLDEN / f"{name}.jsonl").exists()
    ]
    for name, data in [*golden, ("troubles", troubles())]:
        yield TARGET / f"{name}.jsonl", film_of_file(data)
        views[name] = some_views(data)
    yield TARGET / "views.json", msgspec.json.encode(views) + b"\n"


def some_views(data: bytes) -> dict[int, View]:
    """Return the game's views of some frames: the last before each snapshot, and the
    last of all.
    """
    views = [position.view(None) for _, news in replay(*restored(data)) for _, position in news]
    wanted = {*range(SNAPSHOTS - 1, len(views), SNAPSHOTS), len(views) - 1}
    return {index: views[index] for index in sorted(wanted)}


def troubles() -> bytes:
    """Return a battleship match with refused and late moves, in which players leave, return and are
    expelled.
    """
    row = CATALOGUE["battleship"]
    match = Match(row.game, 3, row.terms, 2)
    match.start()
    match.submit(0, {"board": ["A"]}, 1000)
    match.leave(1, 2000)
    match.wake(60_000)
    match.submit(0, {"target": 1, "x": 2, "y": 3}, 61_000)
    match.rejoin(1, 62_000)
    match.submit(1, {"target": 1, "x": 0, "y": 0}, 63_000)
    match.submit(1, {"target": 0, "x": 0, "y": 0}, 123_500)
    match.expel(2, "crash", 130_000, "it fell over")
    match.abort(140_000)
    return match_file(match, ["ada", "bob", "<b>cy</b>"])


def main() -> int:
    TARGET.mkdir(parents=True, exist_ok=True)
    for file, film in films():
        file.write_bytes(film)
    return 0


if __name__ == "__main__":
    sys.exit(main())
