"""Scenes: what a match of the offline runner shows to an audience in another process, as it is played."""

from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct

from botdrome.games.game import View
from botdrome.games.options import unusual
from botdrome.match.course import News
from botdrome.match.events import Event, Player, Result, meant_for
from botdrome.match.match import Match
from botdrome.match.record import Seed, seed_of, unchecked_file
from botdrome.match.terms import Milliseconds


class MatchOpened(Struct, frozen=True):
    match: str
    game: str
    players: tuple[str, ...]
    options: dict[str, Any]
    seed: Seed
    limit: Milliseconds | None
    """The time for a move."""


class MatchMoved(Struct, frozen=True):
    """Public events, each with the public view of the position that it left."""

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
    """The match file, without checks."""


Scene = MatchOpened | MatchMoved | MatchClosed
Show = Callable[[Scene], None]
"""Hands a scene over. It may wait until there is room for it."""


class SceneQueue(Protocol):
    """Leads from processes that play to the one that shows. It can be handed to a process that is being started."""

    def put(self, scene: Scene, /) -> None: ...


class Stage:
    """One match, shown scene by scene."""

    def __init__(self, match_id: str, match: Match, names: tuple[str, ...], show: Show) -> None:
        self._id, self._match, self._names, self._show = match_id, match, names, show
        show(MatchOpened(match_id, match.game.name, names, unusual(match.game), seed_of(match), match.terms.pace.limit))

    def see(self, now: Milliseconds, news: News) -> None:
        public = [(event, position.view(None)) for event, position in news if meant_for(event) is None]
        if public:
            self._show(MatchMoved(self._id, now, self._match.steps, self._match.order, public))

    def close(self) -> None:
        match = self._match
        assert match.result is not None
        self._show(MatchClosed(self._id, match.result, match.view(None), unchecked_file(match, self._names)))
