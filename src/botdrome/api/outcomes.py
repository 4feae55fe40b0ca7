"""Outcomes: how a match stands or ended, in the words of the native protocol."""

from botdrome.formats import FORMATS
from botdrome.games.game import View
from botdrome.games.options import with_options
from botdrome.match.record import seeded_match
from botdrome.store.store import MatchEntry
from botdrome.wire.battlebot.states import Message, Scene, update_of


def native_state(entry: MatchEntry, view: View) -> Message:
    """The state as the players are told it; `result` has the reason and the victor's name."""
    result, names = entry.result, entry.players
    boards = result.boards if result else ()
    board = max(len(boards) - 1, 0)
    bots = tuple(names[(seat + board) % len(names)] for seat in range(len(names)))
    scene = Scene(names, bots, time_left=None, strikes=(0,) * len(names), boards=boards, result=result, turn=None)
    message = update_of(entry.game, extras=True)(scene, view)
    state: Message = message.get("state", message)
    return state


def first_view(entry: MatchEntry) -> View:
    """The position at the start, for a match of which nothing else is known."""
    row = FORMATS[entry.game]
    game = with_options(row.game, entry.options)
    return seeded_match(game, len(entry.players), row.terms, entry.seed).view(None)
