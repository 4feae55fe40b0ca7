"""Films of long matches: size with and without delta encoding, time to build, and time to seek."""

import gzip
import random
import subprocess
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import msgspec
from tools.socketio import node
from tools.web import WEB, install_packages

from botdrome.catalogue import CATALOGUE
from botdrome.games.game import Game, Raw
from botdrome.games.options import with_options
from botdrome.match.film import film_lines, frames, header_of
from botdrome.match.match import Match
from botdrome.match.record import Record, read, replay, unchecked_file

STEPS = 5000
ROWS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("battleship", {"width": 26, "height": 26, "rounds": 1000}, 9),
    ("bomberman", {"width": 25, "height": 25, "rounds": STEPS, "closing": 0}, 8),
    (
        "battlecube",
        {"edge": 64, "ticks": STEPS, "starts": [(0, 3 * seat, seat) for seat in range(20)]},
        20,
    ),
    ("bumblebots", {"ticks": 1000}, 2),
)
"""Games, options and players.

Longer matches of Bumblebots do not exist; Battlecube has at most 100,000 turns.
"""


def played(game: Game[Any], players: int) -> Match:
    """Return a match in which no player places bombs."""
    match, draw, now = Match(game, players, CATALOGUE[game.name].terms, 1), random.Random(1), 0
    match.start()
    while match.result is None and match.steps < STEPS:
        for player in tuple(match.awaited):
            if match.result is None:
                match.submit(
                    player,
                    careful(match.position, match.order.index(player), match.steps, draw),
                    now,
                )
        now += 1
        if (
            match.result is None
            and match.deadline is not None
            and CATALOGUE[game.name].terms.pace.beat
        ):
            now = match.deadline
            match.wake(now)
    match.conclude(now)
    return match


def careful(position: Game[Any], seat: int, step: int, draw: random.Random) -> Raw:
    if position.name == "battlecube":  # most moves lead out of the cube or place bombs
        return [{"task": "MOVE", "direction": "-X" if step % 2 else "+X"}]
    return draw.choice(
        [move for move in islice(position.moves(seat), 40) if "BOMB" not in str(move)]
    )


def whole_views(record: Record, game: Game[Any]) -> bytes:
    """Return the same film with a whole view in each frame."""
    lines = (
        msgspec.json.encode({"t": t, "event": event, "view": position.view(None)})
        for t, news in replay(record, game)
        for event, position in news
    )
    return b"\n".join(lines)


def timed(work: Callable[[], bytes]) -> tuple[bytes, float]:
    began = process_time()
    return work(), process_time() - began


def measure(name: str, options: dict[str, Any], players: int, script: Path, folder: Path) -> str:
    game = with_options(CATALOGUE[name].game, options)
    match = played(game, players)
    record = read(unchecked_file(match, [f"bot {player}" for player in range(players)]))
    film, seconds = timed(lambda: b"".join(film_lines(header_of(record), frames(record, game))))
    whole = whole_views(record, game)
    file = folder / f"{name}.jsonl"
    file.write_bytes(film)
    seek = msgspec.json.decode(
        subprocess.run([node(), script, file], capture_output=True, check=True).stdout
    )
    packed = [len(gzip.compress(data, 5)) / 1000 for data in (film, whole)]
    return (
        f"{name}, {players} players, {match.steps} steps: {len(film) / 1e6:.2f} MB, packed "
        f"{packed[0]:.0f} KB, "
        f"made in {seconds:.2f} s; with whole views {len(whole) / 1e6:.2f} MB, packed "
        f"{packed[1]:.0f} KB\n"
        f"  read in {seek['read']:.0f} ms; a frame anywhere in {seek['median']:.2f} ms, 99 of 100 "
        f"in {seek['most']:.1f} ms, "
        f"{seek['longest']:.1f} ms at most; all frames in {seek['all']:.0f} ms"
    )


def main() -> None:
    install_packages()
    with TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(
            [node(), "build.mjs", "--bench", str(folder / "scripts")], cwd=WEB, check=True
        )
        for row in ROWS:
            print(measure(*row, folder / "scripts" / "seek.mjs", folder), flush=True)


if __name__ == "__main__":
    main()
