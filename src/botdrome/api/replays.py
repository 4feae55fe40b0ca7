"""Replays: matches that are over, and match files, for spectators and as films."""

from collections.abc import Iterable, Iterator
from time import process_time

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from botdrome.api.requests import PIECE, Problem, no_match
from botdrome.catalogue import CATALOGUE, restored
from botdrome.games.game import Raw, View
from botdrome.games.options import with_options
from botdrome.match.events import Ended, Played, Player, meant_for
from botdrome.match.film import FilmHeader, FilmPlayer, film_lines, frames, header_of
from botdrome.match.headline import Headlines
from botdrome.match.match import News
from botdrome.match.record import BadRecord, replay, seeded_match
from botdrome.match.terms import Milliseconds
from botdrome.server.tables.audience import Audience
from botdrome.server.tables.audience import header_of as audience_header
from botdrome.server.workers.jobs import PiecewiseResult, ServerCaller
from botdrome.store.entries import BrokenMatch, MatchEntry, Source
from botdrome.store.store import reader
from botdrome.wire.battlebot.messages import Message, UpdateParts, update_of


class PlayedStep(Struct, frozen=True):
    """A step of a match, without secret moves."""

    t: Milliseconds
    step: int
    moves: dict[Player, Raw]


def replayed(match_id: str, data: bytes) -> Iterator[tuple[Milliseconds, News]]:
    """The news of a stored match, with their times.

    Raise BrokenMatch if its record cannot be played again.
    """
    try:
        yield from replay(*restored(data))
    except BadRecord as error:
        raise _broken(match_id, error) from error


def steps_of(match_id: str, data: bytes) -> list[PlayedStep]:
    played = replayed(match_id, data)
    return [
        PlayedStep(t, event.step, event.moves)
        for t, news in played
        for event, _ in news
        if isinstance(event, Played)
    ]


class _Recorder:
    """A spectator that keeps its messages until they are fetched."""

    def __init__(self) -> None:
        self._messages: list[bytes] = []

    def show(self, message: bytes) -> None:
        self._messages.append(message)

    def end(self) -> None:
        pass

    def fetched(self) -> list[bytes]:
        messages, self._messages = self._messages, []
        return messages


def spectator_messages(entry: MatchEntry, data: bytes) -> Iterator[bytes]:
    """The messages for a spectator that watched from the start."""
    recorder = _Recorder()
    audience = Audience(audience_header(entry))
    for number, (t, news) in enumerate(replayed(entry.id, data)):
        if not number:
            audience.join(recorder, 0, entry.players, news[0][1].view(None))
        audience.see(
            t,
            [(event, position.view(None)) for event, position in news if meant_for(event) is None],
        )
        yield from recorder.fetched()


async def replay_job(
    _server: ServerCaller, source: Source, match_id: str
) -> PiecewiseResult | bool:
    """A job of a worker process: the messages of a match that is over, in lists.

    False: it is not over yet.
    """
    store = await reader(source)
    entry = await store.match(match_id)
    if entry is None:
        raise no_match(match_id)
    if entry.status == "running":
        return False
    record = await store.record(match_id)
    if record is None:
        raise Problem(
            f"match {entry.id} cannot be shown: it was {entry.status}, and nothing was recorded",
            404,
        )
    return PiecewiseResult(True, list(_in_pieces(spectator_messages(entry, record))))


def _in_pieces(messages: Iterator[bytes]) -> Iterator[bytes]:
    some: list[bytes] = []
    size = 0
    for message in messages:
        some.append(message)
        size += len(message)
        if size > PIECE:
            yield msgspec.msgpack.encode(some)
            some, size = [], 0
    yield msgspec.msgpack.encode(some)


HEADLINE_SECONDS = 2.0
"""Of processor time. Matches of house bots take less than 10 ms."""


def headlines_of_match(
    data: bytes, seconds: float = HEADLINE_SECONDS
) -> tuple[tuple[str, ...], str]:
    """The outcome for each player in one line, and what decided the match.

    Both are empty if the record has no end, or cannot be played again in this time.
    """
    until, headlines, ended = process_time() + seconds, Headlines(), False
    try:
        record, game = restored(data)
        for _, news in replay(record, game):
            if process_time() > until:
                return (), ""
            for event, position in news:
                headlines.add(event, position)
                ended = ended or isinstance(event, Ended)
    except BadRecord:
        return (), ""
    return (
        (headlines.all(len(record.setup.names)), headlines.verdict(record.setup.names))
        if ended
        else ((), "")
    )


ELSEWHERE = "`botdrome replay FILE --html film.html` makes it on your machine, without a limit"


class FilmLimits(Struct, frozen=True):
    """How much work one film may be.

    Match files come from strangers, and may be made to take hours.
    """

    inputs: int = 250_000
    seconds: float = 15.0
    """Of processor time."""
    size: int = 64 << 20
    """Bytes, before compression."""


LIMITS = FilmLimits()


def film_of_file(data: bytes, limits: FilmLimits = LIMITS) -> bytes:
    """Return the film of a match file.

    Raise Problem with the line and the reason if it cannot be played.
    """
    try:
        return _film(data, None, (), limits)
    except BadRecord as problem:
        raise Problem(f"the match file cannot be played again: {problem}", 422) from None


def film_of_match(entry: MatchEntry, owners: Iterable[str | None], record: bytes) -> bytes:
    """The film of a stored match.

    `owners` has the owner of each player that is a registered bot.
    """
    try:
        return _film(record, entry, owners, LIMITS)
    except BadRecord as error:
        raise _broken(entry.id, error) from error


def film_so_far(entry: MatchEntry, owners: Iterable[str | None], data: bytes) -> bytes:
    """The film of a running match, as its spectators saw it; `data` is its file so far."""
    try:
        record, game = restored(data)
        header = replace(_with_owners(header_of(record), entry, owners), result=None)
        return b"".join(_bounded(film_lines(header, frames(record, game, running=True)), LIMITS))
    except BadRecord as error:
        raise _broken(entry.id, error) from error


def _broken(match_id: str, error: BadRecord) -> BrokenMatch:
    return BrokenMatch(f"match {match_id} is broken: its record cannot be played again: {error}")


def _film(
    data: bytes, entry: MatchEntry | None, owners: Iterable[str | None], limits: FilmLimits
) -> bytes:
    record, game = restored(data)
    if len(record.lines) > limits.inputs:
        raise _too_much(
            f"has {len(record.lines)} inputs, and {limits.inputs} are the most; {ELSEWHERE}"
        )
    header = header_of(record)
    if entry is not None:
        header = _with_owners(header, entry, owners)
    return b"".join(_bounded(film_lines(header, frames(record, game)), limits))


def _with_owners(header: FilmHeader, entry: MatchEntry, owners: Iterable[str | None]) -> FilmHeader:
    """With the names, owners and result that the store has."""
    players = tuple(
        FilmPlayer(name, owner or UNSET) for name, owner in zip(entry.players, owners, strict=True)
    )
    return replace(
        header,
        match=entry.id,
        players=players,
        contest=entry.contest,
        started=entry.started,
        result=entry.result,
    )


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


def native_state(entry: MatchEntry, view: View) -> Message:
    """The state as players receive it; `result` has the reason and the victor's name."""
    result, names = entry.result, entry.players
    boards = result.boards if result else ()
    board = max(len(boards) - 1, 0)
    bots = tuple(names[(seat + board) % len(names)] for seat in range(len(names)))
    scene = UpdateParts(
        names,
        bots,
        status=None,
        strikes=(0,) * len(names),
        boards=boards,
        result=result,
    )
    message = update_of(entry.game, extras=True)(scene, view)
    state: Message = message.get("state", message)
    return state


def first_view(entry: MatchEntry) -> View:
    """The position at the start, for a match without any other position."""
    row = CATALOGUE[entry.game]
    game = with_options(row.game, entry.options)
    return seeded_match(game, len(entry.players), row.terms, entry.seed).view(None)
