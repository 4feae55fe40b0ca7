"""Problems: the errors of requests, with their messages for the client."""

from collections.abc import Mapping

from botdrome.server.arena import BadName
from botdrome.server.calling.bot_connection import CallFailed
from botdrome.server.failures import STORE_AWAY, STORE_DAMAGED
from botdrome.server.lobby.guesses import TooMany
from botdrome.server.nodes.asking import NoAnswer
from botdrome.server.workers.jobs import JobFailed
from botdrome.store.contest_journal import ContestRefusal, UnknownContest
from botdrome.store.damage import BrokenMatch, StoreDamaged
from botdrome.store.store import LooksAlike, NameTaken, StoreUnavailable

IN_THEIR_WORDS: dict[type[Exception], int] = {
    BadName: 400, PermissionError: 403, UnknownContest: 404, ContestRefusal: 409, TooMany: 429,
    BrokenMatch: 500, JobFailed: 503, NoAnswer: 503,
}  # fmt: skip
"""Errors whose words are for the client, and their status."""
TAKEN = "Bot already registered with that name"


class Problem(Exception):
    """An error for the client, with the status of HTTP."""

    def __init__(
        self, words: str, status: int = 400, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(words)
        self.words, self.status, self.headers = words, status, headers


def no_match(match_id: str) -> Problem:
    return Problem(f"there is no match {match_id!r}", 404)


def no_bot(name: str) -> Problem:
    return Problem(f"there is no bot {name!r}", 404)


def known_problem(error: BaseException | None) -> Problem | None:
    """Return the problem for the client; None: a server error, which is only logged."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, LooksAlike):
        return Problem(f"{TAKEN}, or one that looks like it: {error}", 409)
    if isinstance(error, NameTaken):
        return Problem(TAKEN, 409)
    if isinstance(error, CallFailed):
        return Problem(f"The bot cannot be called: {error}", 422)
    if isinstance(error, StoreDamaged):
        return Problem(STORE_DAMAGED, 500)
    if isinstance(error, StoreUnavailable):
        return Problem(STORE_AWAY, 503)
    status = next(
        (status for kind, status in IN_THEIR_WORDS.items() if isinstance(error, kind)), None
    )
    return None if status is None else Problem(str(error), status)
