"""Divergence: a step of a recorded match at which a bot now answers something else."""

from msgspec import Struct

from botdrome.analysis.move_text import move_text
from botdrome.analysis.questions import Question, refusal, same_move
from botdrome.games.game import Raw


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
