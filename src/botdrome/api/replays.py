"""Replays: a match that is over, played again from its record."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from botdrome.api.problems import Problem
from botdrome.formats import FORMATS
from botdrome.games.game import BadOption, Game, Raw
from botdrome.games.options import with_options
from botdrome.match.course import News
from botdrome.match.events import Played, Player, meant_for
from botdrome.match.reader import read
from botdrome.match.record import BadRecord, Record, new_match, replay
from botdrome.match.terms import Milliseconds
from botdrome.server.audience import Audience, Billing
from botdrome.store.store import MatchEntry


class Turn(Struct, frozen=True):
    """A step that was played. Secret moves are left out."""

    t: Milliseconds
    step: int
    moves: dict[Player, Raw]


def replayed(data: bytes) -> Iterator[tuple[Milliseconds, News]]:
    """The news of a match file, each with its time."""
    record, game = _restored(data)
    times = (0, *(line.t for line in record.lines))
    try:
        yield from zip(times, replay(record, game), strict=True)
    except (BadOption, LookupError, TypeError, ValueError) as error:
        raise Problem(f"the record cannot be played again: {error}", 500) from error


def _restored(data: bytes) -> tuple[Record, Game[Any]]:
    try:
        record = read(data)
        row = FORMATS[record.setup.game]
        game = with_options(row.game, record.setup.options).by_rules(record.setup.rules)
    except (BadRecord, BadOption, KeyError) as error:
        raise Problem(f"the record cannot be read: {error}", 500) from error
    return record, game


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
    record, game = _restored(data)
    shown = _Shown()
    audience = Audience(Billing(entry.id, entry.game, entry.players, entry.contest, entry.started))
    audience.join(shown, 0, entry.players, new_match(record.setup, game).view(None))
    for t, news in replayed(data):
        audience.see(t, [(event, position.view(None)) for event, position in news if meant_for(event) is None])
        yield from shown.fetched()
