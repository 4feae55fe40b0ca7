"""Scenes: the news of an offline match, sent to the process that shows it."""

from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct

from botdrome.games.game import View
from botdrome.games.options import unusual
from botdrome.match.events import Event, Player, Result, meant_for
from botdrome.match.match import Match, News
from botdrome.match.record import Seed, seed_of, unchecked_file
from botdrome.match.terms import Milliseconds


class MatchOpened(Struct, frozen=True):
    match: str
    game: str
    players: tuple[str, ...]
    options: dict[str, Any]
    seed: Seed
    limit: Milliseconds | None
    """The time limit for a move."""


class MatchMoved(Struct, frozen=True):
    """Public events, each with the public view after it."""

    match: str
    t: Milliseconds
    steps: int
    order: tuple[Player, ...]
    """The player at each seat."""
    news: list[tuple[Event, View]]


class MatchClosed(Struct, frozen=True):
    match: str
    result: Result
    view: View
    record: bytes
    """The match file, without checksums."""


Scene = MatchOpened | MatchMoved | MatchClosed
Show = Callable[[Scene], None]
"""Sends a scene. It may wait until the queue has room."""


class SceneQueue(Protocol):
    """A queue from the playing processes to the showing one. It can be passed to a new process."""

    def put(self, scene: Scene, /) -> None: ...


class Stage:
    """Sends the scenes of one match."""

    def __init__(self, match_id: str, match: Match, names: tuple[str, ...], show: Show) -> None:
        self._id, self._match, self._names, self._show = match_id, match, names, show
        show(
            MatchOpened(
                match_id,
                match.game.name,
                names,
                unusual(match.game),
                seed_of(match),
                match.terms.pace.limit,
            )
        )

    def see(self, now: Milliseconds, news: News) -> None:
        public = [
            (event, position.view(None)) for event, position in news if meant_for(event) is None
        ]
        if public:
            self._show(MatchMoved(self._id, now, self._match.steps, self._match.order, public))

    def close(self) -> None:
        match = self._match
        assert match.result is not None
        self._show(
            MatchClosed(
                self._id, match.result, match.view(None), unchecked_file(match, self._names)
            )
        )
