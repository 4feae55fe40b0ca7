"""Replays: a match that is over, played again from its record."""

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from botdrome.api.pieces import PIECE
from botdrome.api.problems import Problem, no_match
from botdrome.formats import restored
from botdrome.games.game import Raw
from botdrome.match.course import News
from botdrome.match.events import Played, Player, meant_for
from botdrome.match.record import BadRecord, replay
from botdrome.match.terms import Milliseconds
from botdrome.server.tables.audience import Audience, header_of
from botdrome.server.workers.jobs import Home, Reply
from botdrome.store.reading import reader
from botdrome.store.store import MatchEntry, Source


class Turn(Struct, frozen=True):
    """A step that was played. Secret moves are left out."""

    t: Milliseconds
    step: int
    moves: dict[Player, Raw]


def replayed(data: bytes) -> Iterator[tuple[Milliseconds, News]]:
    """The news of a match file, each with its time."""
    try:
        yield from replay(*restored(data))
    except BadRecord as error:
        raise Problem(f"the record cannot be played again: {error}", 500) from error


def turns(data: bytes) -> list[Turn]:
    return [Turn(t, event.step, event.moves) for t, news in replayed(data) for event, _ in news if isinstance(event, Played)]


class _Shown:
    """A spectator that keeps what it was shown until it is fetched."""

    def __init__(self) -> None:
        self._messages: list[bytes] = []

    def show(self, message: bytes) -> None:
        self._messages.append(message)

    def end(self) -> None:
        pass

    def fetched(self) -> list[bytes]:
        messages, self._messages = self._messages, []
        return messages


def performance(entry: MatchEntry, data: bytes) -> Iterator[bytes]:
    """All that a spectator who was there from the first moment was shown."""
    shown = _Shown()
    audience = Audience(header_of(entry))
    for number, (t, news) in enumerate(replayed(data)):
        if not number:
            audience.join(shown, 0, entry.players, news[0][1].view(None))
        audience.see(t, [(event, position.view(None)) for event, position in news if meant_for(event) is None])
        yield from shown.fetched()


async def perform(_home: Home, source: Source, match_id: str) -> Reply | bool:
    """The job of a worker: a match that is over, in lists of messages. False: it is not over yet."""
    store = await reader(source)
    entry = await store.match(match_id)
    if entry is None:
        raise no_match(match_id)
    if entry.status == "running":
        return False
    record = await store.record(match_id)
    if record is None:
        raise Problem(f"match {entry.id} cannot be shown: it was {entry.status}, and nothing was recorded", 404)
    return Reply(True, list(_in_pieces(performance(entry, record))))


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
