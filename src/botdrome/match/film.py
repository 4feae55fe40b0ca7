"""Film: a finished match as the frames that a viewer shows.

A frame has a time, an event, and the public view of the position after it. Most frames carry only
the changes of the view since the previous frame. Every 64th frame carries the whole view, so that a
viewer can start there.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from botdrome.games.game import Game
from botdrome.match.events import (
    AnyEvent,
    Began,
    Ended,
    Event,
    Late,
    Played,
    Player,
    Refused,
    Result,
    meant_for,
)
from botdrome.match.headline import Headlines
from botdrome.match.inputs import InputLine
from botdrome.match.record import Record, replay
from botdrome.match.terms import Milliseconds, Terms

# Changes between two JSON values, written as JSON.
#
# `[value]` replaces the old value, and `[]` removes it. An object changes an object or an array:
# each of its keys is a key or an index there, with the change of that value. An index at the end
# of an array appends to it. The key `length` gives the number of items that an array keeps. Keys
# with unchanged values are omitted.

Change = dict[str, Any] | list[Any]

_ENCODE, _DECODE = msgspec.json.Encoder().encode, msgspec.json.Decoder().decode


def change_between(old: Any, new: Any) -> Change | None:
    """Return the change from `old` to `new`, both decoded from JSON; None if they are equal."""
    if type(old) is not type(new):
        return [new]
    if not isinstance(old, dict | list):
        return None if old == new else [new]
    text = _ENCODE(new)
    if text == _ENCODE(old):  # much faster than comparing items, and `==` treats true as 1
        return None
    parts = _in_object(old, new) if isinstance(old, dict) else _in_array(old, new)
    return parts if len(_ENCODE(parts)) <= len(text) + 2 else [new]


def _in_object(old: dict[str, Any], new: dict[str, Any]) -> Change:
    parts: dict[str, Any] = {key: [] for key in old if key not in new}
    for key, value in new.items():
        change = change_between(old[key], value) if key in old else [value]
        if change is not None:
            parts[key] = change
    kept = [key for key in old if key in new]
    return (
        parts if kept == list(new)[: len(kept)] else [new]
    )  # keep the order of keys: renderers may rely on it


def _in_array(old: list[Any], new: list[Any]) -> Change:
    parts: dict[str, Any] = {}
    for index, value in enumerate(new):
        change = change_between(old[index], value) if index < len(old) else [value]
        if change is not None:
            parts[str(index)] = change
    if len(new) < len(old):
        parts["length"] = [len(new)]
    return parts


VERSION = 1
SNAPSHOTS = 64
"""One of this many frames carries the whole view."""


class FilmPlayer(Struct, frozen=True):
    """A player and its known properties."""

    name: str
    owner: str | UnsetType = UNSET
    rating: float | UnsetType = UNSET
    protocol: str | UnsetType = UNSET


class FilmHeader(Struct, frozen=True):
    """The first line of a film."""

    film: int
    """The version of the format."""
    match: str | None
    """The id of the match on its server; None if the film was made from a file."""
    game: str
    players: tuple[FilmPlayer, ...]
    contest: str | None
    started: Milliseconds | None
    """Milliseconds since 1970, if known."""
    options: dict[str, Any]
    terms: Terms
    result: Result | None
    """None if the match was still running when its file was written."""


class FilmFrame(Struct, frozen=True):
    """Each further line.

    Without `view` and `change` the view is the same as in the previous frame.
    """

    t: Milliseconds
    event: AnyEvent
    view: dict[str, Any] | UnsetType = UNSET
    change: dict[str, Any] | UnsetType = UNSET
    """The changes since the previous frame, in the format of `match/changes.py`."""
    thought: dict[Player, Milliseconds] | UnsetType = UNSET
    """How long each player took for its move in a played step."""
    headlines: tuple[str, ...] | UnsetType = UNSET
    """In the last frame of a match that ended: its outcome for each player, in one line."""


def header_of(record: Record) -> FilmHeader:
    """Return everything that a match file says before the match begins."""
    setup = record.setup
    players = tuple(FilmPlayer(name) for name in setup.names)
    return FilmHeader(
        VERSION, None, setup.game, players, None, None, setup.options, setup.terms, record.result
    )


def frames(record: Record, game: Game[Any], running: bool = False) -> Iterator[FilmFrame]:
    """Yield the frames of a match. Raise BadRecord if its file is inconsistent.

    `running`: the match is not over, so only what spectators have seen of it is shown.
    """
    number, before, stopwatch, headlines = (
        0,
        None,
        Stopwatch(record.setup.terms.pace.pause),
        Headlines(),
    )
    for line, (t, news) in zip((None, *record.lines), replay(record, game), strict=True):
        stopwatch.hear(line)
        for event, position in news:
            headlines.add(event)
            thought = (not running and stopwatch.see(t, event)) or UNSET
            if running and meant_for(event) is not None:
                continue
            ended = headlines.all(len(record.setup.names)) if isinstance(event, Ended) else UNSET
            view = _DECODE(_ENCODE(position.view(None)))
            change = change_between(before, view) if number % SNAPSHOTS else [view]
            seen = _shown(event, position)
            if isinstance(change, list):
                yield FilmFrame(t, seen, view=view, thought=thought, headlines=ended)
            else:
                yield FilmFrame(t, seen, change=change or UNSET, thought=thought, headlines=ended)
            number, before = number + 1, view


class Stopwatch:
    """Measures how long the players take for their moves, step by step."""

    def __init__(self, pause: Milliseconds) -> None:
        self._pause = pause
        self._opened: Milliseconds = 0
        self._taken: dict[Player, Milliseconds] = {}

    def hear(self, line: InputLine | None) -> None:
        """Record a move. Only the last move of a player in a step counts."""
        if line is not None and line.do == "move" and line.by is not None:
            self._taken[line.by] = max(0, line.t - self._opened)

    def see(self, t: Milliseconds, event: Event) -> dict[Player, Milliseconds]:
        """Return the times of a played step; empty for any other event.

        Refused and late moves do not count.
        """
        if isinstance(event, (Refused, Late)):
            self._taken.pop(event.player, None)
        elif isinstance(event, Began):
            self._taken, self._opened = {}, t
        elif isinstance(event, Played):
            taken, self._taken, self._opened = self._taken, {}, t + self._pause
            return taken
        return {}


def _shown(event: Event, position: Game[Any]) -> Any:
    """Return an event as everybody may see it after the match."""
    return replace(event, move=None) if isinstance(event, Refused) and position.secret else event


def film_lines(header: FilmHeader, frames: Iterable[FilmFrame]) -> Iterator[bytes]:
    """Yield a film as JSON lines."""
    yield _ENCODE(header) + b"\n"
    for frame in frames:
        yield _ENCODE(frame) + b"\n"
