"""`--openings` of `play` and `duel`: a file, random openings, or none."""

from pathlib import Path
from typing import Any

from msgspec import Struct

from botdrome.cli.terminal import CommandError
from botdrome.games.game import BadOption, Game
from botdrome.games.gomoku import Gomoku
from botdrome.games.options import with_options
from botdrome.wire.gomocup import EXAMPLE, BadOpening, read_openings

RANDOM, NONE = "random", "none"


class Openings(Struct, frozen=True):
    listed: tuple[Any, ...] = ()
    """Values of the option `opening`."""
    random: bool = False


def openings_called(called: str, game: Game[Any], seats: int) -> Openings:
    """Return the openings that an option names. Raise CommandError if they cannot be played."""
    if called == NONE:
        return Openings()
    if called != RANDOM:
        return Openings(_from_file(Path(called), game, seats))
    if not game.opening_moves:
        raise CommandError(
            f"--openings random is for games without chance; seeds make the matches of {game.name} "
            "differ"
        )
    return Openings(random=True)


def usual_openings(game: Game[Any]) -> Openings:
    """Return those of `duel`: random ones in games without chance, unless an opening is set."""
    return Openings(random=game.opening_moves > 0 and getattr(game, "opening", None) is None)


def _from_file(file: Path, game: Game[Any], seats: int) -> tuple[Any, ...]:
    """Read a file of openings, and check that each of them can be played."""
    if not isinstance(game, Gomoku):
        raise CommandError(f"--openings FILE is for gomoku, not for {game.name}")
    if game.opening is not None:
        raise CommandError("--openings cannot be combined with --option opening=...")
    try:
        openings = read_openings(file.read_text(), game.size)
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{file} is no text file") from None
    except BadOpening as problem:
        raise CommandError(f"{file}: {problem}") from None
    for number, opening in openings.items():
        try:
            with_options(game, {"opening": opening}).check(seats)
        except BadOption as problem:
            raise CommandError(
                f"{file}: line {number}: {str(problem).removeprefix('opening: ')}; {EXAMPLE}"
            ) from None
    return tuple(openings.values())
