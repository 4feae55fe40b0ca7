"""Applying inputs: a match is given again what it was given before."""

from typing import Any

from botdrome.match.course import News
from botdrome.match.inputs import Input, Kind
from botdrome.match.match import Match
from botdrome.match.terms import Milliseconds


def apply(match: Match, told: Input) -> News:
    """Give a match an input from its record."""
    now, kind, player, words = told
    if player is None:
        return _apply_to_all(match, kind, words, now)
    if kind == "move":
        return match.submit(player, words, now)
    if kind == "expel":
        return match.expel(player, words[0], now, words[1])
    if kind == "credit":
        return match.credit(player, words[0], words[1], now)
    return match.leave(player, now) if kind == "leave" else match.rejoin(player, now)


def _apply_to_all(match: Match, kind: Kind, words: Any, now: Milliseconds) -> News:
    if kind == "amend":
        return match.amend(words[0], now, words[1])
    if kind == "conclude":
        return match.conclude(now)
    if kind == "stall":
        return match.stall(words, now)
    return match.wake(now) if kind == "wake" else match.abort(now)
