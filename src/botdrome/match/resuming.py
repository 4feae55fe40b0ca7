"""Resuming: a match is rebuilt from its set-up and its inputs, some at a time."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from botdrome.games.game import Game
from botdrome.match.applying import apply
from botdrome.match.course import News
from botdrome.match.events import Began, BoardEnded, rotated
from botdrome.match.inputs import Input
from botdrome.match.record import UNPLAYABLE, BadRecord, Setup, new_match
from botdrome.match.terms import Milliseconds


class Resumption:
    def __init__(self, setup: Setup, game: Game[Any], inputs: Iterable[Input]) -> None:
        """`game` has the options of the set-up. Raise BadRecord if no match can have this set-up."""
        self.match = new_match(setup, game)
        self._inputs = iter(inputs)
        self.news = self.match.start()
        """The news of the last input."""
        self.now: Milliseconds = 0
        self._boards: News = []
        self._played = 1

    def advance(self, most: int) -> bool:
        """Give the match some inputs, and return whether there may be more. Raise BadRecord if it cannot have had one."""
        given = 0
        for told in islice(self._inputs, most):
            given += 1
            self._played += 1
            if len(self.news) > 1:  # the end of a board is never the last news
                self._boards += self._boards_in(self.news)
            self.now = told[0]
            try:
                self.news = apply(self.match, told)
            except UNPLAYABLE as problem:
                raise BadRecord(self._played, f"it cannot be played: {problem}") from None
        return given == most

    @property
    def recap(self) -> News:
        """News from which a writer of messages learns how the match stands; without those of the end."""
        match = self.match
        ended = self._boards if match.result is not None else [*self._boards, *self._boards_in(self.news)]
        return [*ended, (Began(match.board, match.order), match.position)]

    def _boards_in(self, news: News) -> News:
        """The boards that have ended, each as if it had begun with its last position."""
        found: News = []
        for event, position in news:
            if isinstance(event, BoardEnded):
                found += [(Began(event.board, rotated(self.match.players, event.board)), position), (event, position)]
        return found
