"""Headlines: the outcome of a match for each player in one line, such as "lost at step 7: space [2,
2] is taken, third illegal move". The step is the number of steps played by then, as `botdrome
replay --turn` counts them.
"""

from collections.abc import Sequence
from typing import Any

from botdrome.games.game import Game
from botdrome.match.events import Began, Ended, Event, Late, Out, Played, Player, Refused, Result
from botdrome.match.record import Record, replay

ORDINALS = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
)
ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def replayed_headlines(record: Record, game: Game[Any]) -> "Headlines":
    """Return the headlines of a match file, with what decided the match."""
    headlines = Headlines()
    for _, news in replay(record, game):
        for event, position in news:
            headlines.add(event, position)
    return headlines


def headlines_of(record: Record, game: Game[Any]) -> tuple[str, ...]:
    """Return the headline of each player of a match file."""
    return replayed_headlines(record, game).all(len(record.setup.names))


class Headlines:
    """Takes the events of a match as they come, those for single players too, and gives the
    headline of each player.
    """

    def __init__(self) -> None:
        self._steps = 0
        self._boards = 0
        self._result: Result | None = None
        self._order: tuple[Player, ...] = ()
        self._last: Game[Any] | None = None
        self._refused: dict[Player, int] = {}
        """The refused moves of each player on this board."""
        self._why: dict[Player, str] = {}
        """Why the last move of each player in this step was refused."""
        self._out: dict[Player, tuple[str, str]] = {}
        """The place in the match where each player went out, and the reason."""

    def add(self, event: Event, position: Game[Any] | None = None) -> None:
        """`position` is the one after the event, if it is known: `verdict` needs the last one."""
        if isinstance(event, Played):
            self._steps += 1
            self._why.clear()
        elif isinstance(event, Refused):
            self._refused[event.player] = event.strikes or self._refused.get(event.player, 0) + 1
            self._why[event.player] = event.why
        elif isinstance(event, Late):
            self._add_late(event)
        elif isinstance(event, Out):
            if (
                event.detail or event.player not in self._out
            ):  # later boards repeat it without the detail
                self._out[event.player] = (self._place, self._reason(event))
        elif isinstance(event, Began):
            self._boards, self._order = event.board + 1, event.order
            self._refused.clear()
            self._why.clear()
        elif isinstance(event, Ended):
            self._result, self._last = event.result, position

    def of(self, player: Player) -> str:
        outcome = self._outcome(player)
        if player in self._out:
            place, reason = self._out[player]
            rest = f"; {outcome}" if outcome and outcome != "lost" else ""
            return f"{'lost' if outcome == 'lost' else 'out'} at {place}: {reason}{rest}"
        reason = self._end(player)
        return f"{outcome or 'still playing'} at step {self._steps}" + (
            f": {reason}" if reason else ""
        )

    def all(self, players: int) -> tuple[str, ...]:
        return tuple(self.of(player) for player in range(players))

    @property
    def losers(self) -> frozenset[Player]:
        """The players that did not come first in a match that ended."""
        if self._result is None or self._result.aborted:
            return frozenset()
        return frozenset(player for player, place in enumerate(self._result.places) if place > 1)

    def verdict(self, names: Sequence[str]) -> str:
        """Say in words what decided the match; empty: it did not end by the rules, and the
        headlines say how.
        """
        if (
            self._result is None
            or self._last is None
            or not self._last.over
            or self._result.aborted
        ):
            return ""
        if len(self._result.boards) > 1:
            return "boards won: " + ", ".join(
                f"{name} {won:g}" for name, won in zip(names, self._result.scores, strict=True)
            )
        return self._last.verdict([names[player] for player in self._order])

    @property
    def _place(self) -> str:
        return f"step {self._steps}" + (f" on board {self._boards}" if self._boards > 1 else "")

    def _reason(self, event: Out) -> str:
        player, cause, detail = event.player, event.cause, event.detail
        if cause == "illegal moves":
            count = f"{ordinal(max(1, self._refused.get(player, 0)))} illegal move"
            return f"{detail}, {count}" if detail else count
        if cause == "timeout" and player in self._why:
            return f"{self._why[player]}, and {detail.replace('no move', 'no legal move') or cause}"
        return (
            detail if cause == "timeout" and detail else f"{cause}: {detail}" if detail else cause
        )

    def _add_late(self, event: Late) -> None:
        """The move that a player sent too late comes after the event that put it out."""
        place, reason = self._out.get(event.player, ("", ""))
        if place == self._place:
            self._out[event.player] = (place, f"{reason}, late by {event.by} ms")

    def _outcome(self, player: Player) -> str:
        if self._result is None:
            return ""
        places, cause = self._result.places, self._result.causes[player]
        place, alone = places[player], places.count(places[player]) == 1
        if cause == "aborted":
            return cause
        if len(places) == 1:
            return "ended"
        if len(places) == 2:
            return "drew" if not alone else "won" if place == 1 else "lost"
        count = f"{ordinal(place)} of {len(places)}"
        return (
            "won" if place == 1 and alone else f"placed {count}" if alone else f"tied for {count}"
        )

    def _end(self, player: Player) -> str:
        """Return why the match ended for a player that was not put out."""
        if self._result is None:
            return ""
        cause = self._result.causes[player]
        if cause not in ("complete", "aborted"):
            return cause
        others = [reason for other, (_, reason) in self._out.items() if other != player]
        two = len(self._result.places) == 2
        return f"the opponent is out: {others[0]}" if two and others else ""


def ordinal(number: int) -> str:
    if number <= len(ORDINALS):
        return ORDINALS[number - 1]
    return f"{number}{'th' if 10 < number % 100 < 14 else ENDINGS.get(number % 10, 'th')}"
