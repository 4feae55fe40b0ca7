"""Registration: what is said when a bot cannot be registered."""

from botdrome.api.problems import Problem
from botdrome.server.arena import BadName
from botdrome.store.store import NameTaken

LONGEST_OWNER = 200
TAKEN = "Bot already registered with that name"


def check_owner(owner: str) -> None:
    if len(owner) > LONGEST_OWNER:
        raise Problem(f"an owner has at most {LONGEST_OWNER} characters")
    if not owner.isprintable():
        raise Problem("an owner has printable characters only")


def refusal(error: BaseException | None) -> Problem | None:
    """An error as the problem that it is for whoever asked; None: it is ours alone."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, NameTaken):
        return Problem(TAKEN, 409)
    return Problem(str(error)) if isinstance(error, BadName) else None
