"""Films: matches that are over, and match files that somebody sends, as the frames that a viewer shows."""

from collections.abc import Iterable, Iterator
from time import process_time

from msgspec import UNSET, Struct
from msgspec.structs import replace

from botdrome.api.problems import Problem
from botdrome.formats import restored
from botdrome.match.film import FilmHeader, FilmPlayer, film_lines, frames, header_of
from botdrome.match.record import BadRecord
from botdrome.store.store import MatchEntry

ELSEWHERE = "`botdrome replay FILE --html film.html` makes it on your machine, without a limit"


class FilmLimits(Struct, frozen=True):
    """What one film may cost. Match files come from strangers: any of them may be made to be replayed for hours."""

    inputs: int = 250_000
    seconds: float = 15.0
    """Of processor time. A worker that does not get as far as to look is killed (see `server/workers/pool.py`)."""
    size: int = 64 << 20
    """Bytes, before they are packed."""


LIMITS = FilmLimits()


def filmed(data: bytes, limits: FilmLimits = LIMITS) -> bytes:
    """The film of a match file; Problem with the line and the reason where it cannot be played."""
    return _developed(data, None, (), limits)


def stored_film(entry: MatchEntry, owners: Iterable[str | None], record: bytes, limits: FilmLimits = LIMITS) -> bytes:
    """The film of a match in the store. `owners` are those of the players that are registered bots."""
    return _developed(record, entry, owners, limits)


def _developed(data: bytes, entry: MatchEntry | None, owners: Iterable[str | None], limits: FilmLimits) -> bytes:
    try:
        record, game = restored(data)
        if len(record.lines) > limits.inputs:
            raise _too_much(f"has {len(record.lines)} inputs, and {limits.inputs} are the most; {ELSEWHERE}")
        header = header_of(record)
        if entry is not None:
            header = _known(header, entry, owners)
        return b"".join(_bounded(film_lines(header, frames(record, game)), limits))
    except BadRecord as problem:
        raise Problem(f"the match file cannot be played again: {problem}", 422) from None


def _known(header: FilmHeader, entry: MatchEntry, owners: Iterable[str | None]) -> FilmHeader:
    """With what the store knows, and the result that it shows."""
    players = tuple(FilmPlayer(name, owner or UNSET) for name, owner in zip(entry.players, owners, strict=True))
    return replace(
        header, match=entry.id, players=players, contest=entry.contest, started=entry.started, result=entry.result
    )  # fmt: skip


def _bounded(lines: Iterable[bytes], limits: FilmLimits) -> Iterator[bytes]:
    until, size = process_time() + limits.seconds, 0
    for line in lines:
        size += len(line)
        if size > limits.size:
            raise _too_much(f"makes a film of more than {limits.size} bytes; {ELSEWHERE}")
        if process_time() > until:
            raise _too_much(f"takes more than {limits.seconds:g} s to play again; {ELSEWHERE}")
        yield line


def _too_much(words: str) -> Problem:
    return Problem(f"this match {words}", 422)
