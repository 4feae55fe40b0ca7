"""Questions: the turns of one player in a recorded match, with the answers that were recorded.

Steps are numbered from 0: step 41 is asked in the position after 41 steps, which `botdrome replay
--turn 41` shows.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.games.game import Game, IllegalMove, Raw, Seat, View
from botdrome.match.events import Cause, Late, Out, Player, Refused
from botdrome.match.inputs import InputLine
from botdrome.match.match import Match, News
from botdrome.match.record import Record, replay_match
from botdrome.match.terms import Milliseconds


class Question(Struct, frozen=True):
    """A turn of a player, and its recorded answer."""

    step: int
    board: int
    player: Player
    seat: Seat
    order: tuple[Player, ...]
    """The player at each seat."""
    out: dict[Seat, tuple[Cause, int]]
    """The seats that are out of the board, with the cause and the step."""
    position: Game[Any]
    opened: int
    """The number of inputs of the record before the step."""
    moved: bool
    """Whether the player sent a move."""
    recorded: Raw
    """The move as it was sent."""
    fault: str
    """Why the move did not count, or why there was none; empty: it counted."""
    due: bool = True
    """False: the player was not asked, because it had moved before or it was not its turn."""
    answered: bool = True
    """False: the record ends with this question."""

    @property
    def accepted(self) -> bool:
        return self.moved and not self.fault

    @property
    def view(self) -> View:
        return self.position.view(self.seat)


class Told(Struct, frozen=True):
    """The news of an input, and the match after it."""

    match: Match
    now: Milliseconds
    news: News


def retold(record: Record, game: Game[Any], player: Player) -> Iterator[Question | Told]:
    """Replay a match as one player experienced it: the news, and the questions before the news of
    their answers.

    Raise BadRecord as `replay` does.
    """
    turn = _Turn(player)
    for number, (line, (match, now, news)) in enumerate(
        zip((None, *record.lines), replay_match(record, game), strict=True)
    ):
        if line is not None and (question := turn.after(line, match, news)):
            yield question
        yield Told(match, now, news)
        turn.look(match, number)
    if question := turn.unanswered():
        yield question


def questions(record: Record, game: Game[Any], player: Player) -> list[Question]:
    """Return the questions that the player was asked."""
    return [
        item for item in retold(record, game, player) if isinstance(item, Question) and item.due
    ]


class _Turn:
    """The open step, as one player sees it."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._step = self._board = -1
        self._opened = 0
        self._tried = self._moved = self._asked = False
        """Whether the player has sent a move in this step, whether one was accepted, and whether it
        is asked.
        """

    def look(self, match: Match, inputs: int) -> None:
        """Note the match before its next input."""
        board = match.board
        if (match.steps, board.number) != (self._step, self._board):
            self._step, self._board, self._opened = match.steps, board.number, inputs
            self._tried = self._moved = False
        self._position, self._order = board.position, board.order
        self._seat, self._out = board.seat_of[self._player], dict(board.out)
        self._asked = not self._moved and match.result is None and self._seat in match.step.seats

    def after(self, line: InputLine, match: Match, news: News) -> Question | None:
        """Return the question that this input answered, if there is one."""
        if line.do == "move" and line.by == self._player:
            fault, due = _fault(news, self._player), self._asked
            self._tried, self._moved = True, self._moved or (due and not fault)
            return self._question(True, line.say, fault, due)
        if (
            self._asked
            and not self._tried
            and (match.steps > self._step or _is_out(news, self._player))
        ):
            return self._question(
                False, None, _fault(news, self._player) or "no move in time", True
            )
        return None

    def unanswered(self) -> Question | None:
        return self._question(False, None, "", True, answered=False) if self._asked else None

    def _question(
        self, moved: bool, raw: Raw, fault: str, due: bool, answered: bool = True
    ) -> Question:
        return Question(
            self._step, self._board, self._player, self._seat, self._order, self._out,
            self._position, self._opened, moved, raw, fault, due, answered,
        )  # fmt: skip


def _fault(news: News, player: Player) -> str:
    """Return why a move did not count: the refusal, or the cause for which the player is out."""
    for event, _ in news:
        if isinstance(event, Refused) and event.player == player:
            return event.why
        if isinstance(event, Late) and event.player == player:
            return f"late by {event.by} ms"
        if isinstance(event, Out) and event.player == player:
            return f"{event.cause}: {event.detail}" if event.detail else event.cause
    return ""


def _is_out(news: News, player: Player) -> bool:
    return any(isinstance(event, Out) and event.player == player for event, _ in news)


def same_move(position: Game[Any], seat: Seat, one: Raw, other: Raw) -> bool:
    """Return whether two messages mean the same move. Illegal ones must be equal."""
    if one == other:
        return True
    try:
        return bool(position.parse(seat, one) == position.parse(seat, other))
    except IllegalMove:
        return False


def refusal(position: Game[Any], seat: Seat, raw: Raw) -> str:
    """Return why a move is illegal; empty if it is legal."""
    try:
        position.parse(seat, raw)
    except IllegalMove as problem:
        return str(problem)
    return ""


# Moves as short text, for people.

LONGEST = 60
COORDINATES = {"x", "y", "z"}


def move_text(raw: Raw) -> str:
    """Return `(7,7)` for coordinates, the value of an object with one entry, and shortened JSON for
    all others.
    """
    if isinstance(raw, dict) and raw and raw.keys() <= COORDINATES:
        return f"({','.join(_json(value) for value in raw.values())})"
    if isinstance(raw, dict) and len(raw) == 1:
        return _shortened(next(iter(raw.values())))
    return _shortened(raw)


def _shortened(raw: Raw) -> str:
    text = raw if isinstance(raw, str) else _json(raw)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _json(raw: Raw) -> str:
    return msgspec.json.encode(raw).decode()


# Divergence: a step of a recorded match at which a bot now answers something else.


class Answer(Struct, frozen=True):
    """The answer of a bot to a question."""

    raw: Raw = None
    fault: str = ""
    """Why there is no move, such as a crash; empty: there is one."""
    seconds: float = 0.0
    crashed: bool = False
    process: int = 0
    memory: int = 0
    """The id and the resident bytes of its process; 0: unknown."""


class Divergence(Struct, frozen=True):
    step: int
    board: int
    recorded: str
    now: str

    def __str__(self) -> str:
        return f"step {self.step}: recorded {self.recorded}, now {self.now}"


def divergence(question: Question, answer: Answer) -> Divergence | None:
    """Compare an answer with the recorded one.

    Two answers without a move are the same, whatever the reasons.
    """
    if not question.answered or _agrees(question, answer):
        return None
    return Divergence(
        question.step, question.board, recorded_text(question), answer_text(question, answer)
    )


def _agrees(question: Question, answer: Answer) -> bool:
    if answer.fault or not question.moved:
        return bool(answer.fault) and not question.moved
    return same_move(question.position, question.seat, question.recorded, answer.raw)


def recorded_text(question: Question) -> str:
    if not question.moved:
        return f"no move ({question.fault})"
    return move_text(question.recorded) + (f" ({question.fault})" if question.fault else "")


def answer_text(question: Question, answer: Answer) -> str:
    if answer.fault:
        return answer.fault if answer.crashed else f"no move ({answer.fault})"
    why = refusal(question.position, question.seat, answer.raw) if question.due else ""
    return move_text(answer.raw) + (f" (illegal: {why})" if why else "")
