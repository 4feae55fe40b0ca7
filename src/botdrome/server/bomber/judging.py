"""The answers of a Bomberman room to actions."""

from botdrome.games.bomberman import WORDS
from botdrome.match.events import Player
from botdrome.server.bomber.users import BomberUser
from botdrome.server.tables.table import Table
from botdrome.wire.bomber.conversation import (
    CAME_LATE,
    IS_AHEAD,
    IS_DEAD,
    IS_OVER,
    Response,
    Round,
    accepted,
    refusal_in,
)
from botdrome.wire.bomber.state import REGISTRATION, State

MOVES = {word: ({"action": word}, b'{"action":"%s"}' % word.encode()) for word in WORDS}
"""Each word as a move for the table, and as bytes for the record, without the user_id."""

NOT_TRIED = {
    IS_DEAD: "not taken: the user is dead",
    IS_AHEAD: "not taken: too early",
    CAME_LATE: "not taken: too late",
}
"""Reasons as the record has them."""


def round_of(table: Table | None, player: Player | None, state: State) -> Round | None:
    """Return what a user may do in the present round; None: no game runs, or the user does not play
    in it.
    """
    if table is None or player is None or state.phase == REGISTRATION:
        return None
    match, deadline = table.match, table.match.deadline
    running = match.steps + (1 if deadline is None or table.now() <= deadline else 2)
    return Round(
        state.phase,
        match.result is not None,
        state.number,
        running,
        state.place(player) is not None,
    )


def response_to(
    verdict: str, table: Table, user: BomberUser, word: str, step: int, state: State, early: bool
) -> Response:
    """Return the response to an action for the round with this number."""
    match, refused = table.match, refusal_in(verdict)
    if match.result is not None and (refused is not None or not early):
        return IS_OVER  # the round before was overdue, and ended the game
    if refused is not None:
        assert user.player is not None
        return IS_DEAD if state.place(user.player) is None else refused
    previous, user.acted = user.acted, (step, word)
    return accepted(previous, step)
