"""Fork a match: continue a recorded match from one of its steps, with other players.

The inputs before the step are the recorded ones, so the continued match replays from its start.
Chance of the game stays that of the recorded seed.
"""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from botdrome.analysis.playouts import method_of
from botdrome.analysis.position_file import match_at
from botdrome.bots.house import house_bots, seated
from botdrome.games.game import Game, Raw, View
from botdrome.match.events import Player
from botdrome.match.match import Match
from botdrome.match.questions import questions, refusal
from botdrome.match.record import Record
from botdrome.offline.isolation import ISOLATED, Isolation
from botdrome.offline.seats import FunctionSeat, Seat, make_seat
from botdrome.offline.table import play_match
from botdrome.offline.tournament import seed_of_bot

RECORDED, HUMAN = "recorded", "human"
"""Entrants beside the usual ones: the moves of the record, and a person."""

AskPerson = Callable[[Match, Player], Raw]
"""Asks a person for a legal move."""


class Continuation(Struct, frozen=True):
    """A match that was continued."""

    match: Match
    faults: dict[Player, str]
    left: dict[Player, int]
    """The step at which a recorded player had no legal recorded move any more, so that a house bot
    took over.
    """


class RecordedMoves:
    """Plays the recorded moves of a player as long as they are legal, and then as a house bot."""

    def __init__(self, match: Match, player: Player, moves: dict[int, Raw], seed: int) -> None:
        self._match, self._player, self._moves = match, player, moves
        game = match.game.name
        self._substitute = seated(house_bots(game)[method_of(game).bot], seed)
        self.left: int | None = None

    def __call__(self, view: View) -> Raw:
        match, step = self._match, self._match.steps
        if self.left is None and step in self._moves:
            raw = self._moves[step]
            if not refusal(match.position, match.seat_of(self._player), raw):
                return raw
        if self.left is None:
            self.left = step
        return self._substitute(view)


class PersonSeat(FunctionSeat):
    """A person, for whom no time passes."""

    def ask(self, view: View, limit: float) -> tuple[Raw, float]:
        return super().ask(view, limit)[0], 0.0


def continue_match(
    record: Record, game: Game[Any], step: int, entrants: Sequence[str], names: tuple[str, ...],
    number: int, person: AskPerson, isolation: Isolation = ISOLATED,
) -> Continuation:  # fmt: skip
    """Continue a match from a step to its end.

    Each `number` has other seeds for the bots; those of 0 are the recorded ones.
    """
    match = match_at(record, game, step)
    recorded: dict[Player, RecordedMoves] = {}

    def seat(player: Player) -> Seat:
        entrant, seed = entrants[player], seed_of_bot(match.seed, player + number * match.players)
        if entrant == RECORDED:
            moves = recorded_moves(record, game, player)
            recorded[player] = RecordedMoves(match, player, moves, seed)
            return FunctionSeat(recorded[player], trusted=True)
        if entrant == HUMAN:
            return PersonSeat(lambda _: person(match, player), trusted=True)
        return make_seat(entrant, game.name, names[player], seed, isolation)

    table = play_match(match, names, seat)
    left = {player: moves.left for player, moves in recorded.items() if moves.left is not None}
    return Continuation(match, table.faults, left)


def recorded_moves(record: Record, game: Game[Any], player: Player) -> dict[int, Raw]:
    """Return the accepted moves of a player by step."""
    return {
        question.step: question.recorded
        for question in questions(record, game, player)
        if question.accepted
    }
