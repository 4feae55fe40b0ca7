"""Registration: what is said when a bot cannot be registered."""

from botdrome.api.problems import Problem
from botdrome.server.arena import BadName
from botdrome.server.calling.answer import CallFailed
from botdrome.server.failures import STORE_AWAY
from botdrome.server.lobby.guesses import TooMany
from botdrome.store.store import LooksAlike, NameTaken, StoreUnavailable
from botdrome.wire.battlebot.login import LONGEST_CONTEST
from botdrome.wire.names import can_be_shown

LONGEST_OWNER = 200
TAKEN = "Bot already registered with that name"


def check_owner(owner: str) -> None:
    if len(owner) > LONGEST_OWNER:
        raise Problem(f"an owner has at most {LONGEST_OWNER} characters")
    if not can_be_shown(owner):
        raise Problem("an owner has printable characters only")


def refusal(error: BaseException | None) -> Problem | None:
    """An error as the problem that it is for whoever asked; None: it is ours alone."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, LooksAlike):
        return Problem(f"{TAKEN}, or one that looks like it: {error}", 409)
    if isinstance(error, NameTaken):
        return Problem(TAKEN, 409)
    if isinstance(error, TooMany):
        return Problem(str(error), 429)
    if isinstance(error, CallFailed):
        return Problem(f"The bot cannot be called: {error}", 422)
    if isinstance(error, StoreUnavailable):
        return Problem(STORE_AWAY, 503)
    return Problem(str(error)) if isinstance(error, BadName) else None


def check_contest(name: str) -> None:
    if not name or len(name) > LONGEST_CONTEST or "\0" in name:
        raise Problem(f"the name of a contest has 1 to {LONGEST_CONTEST} characters")
