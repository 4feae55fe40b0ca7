"""Results: how a match ended, in the words of the native protocol, and the ranking of a contest."""

from collections.abc import Iterable
from enum import Enum

from msgspec import Struct

from botdrome.formats import FORMATS
from botdrome.games.game import View
from botdrome.games.options import with_options
from botdrome.match.record import seeded_match
from botdrome.store.store import ContestLine, MatchEntry
from botdrome.wire.battlebot.states import Message, UpdateParts, update_of


def native_state(entry: MatchEntry, view: View) -> Message:
    """The state as players receive it; `result` has the reason and the victor's name."""
    result, names = entry.result, entry.players
    boards = result.boards if result else ()
    board = max(len(boards) - 1, 0)
    bots = tuple(names[(seat + board) % len(names)] for seat in range(len(names)))
    scene = UpdateParts(names, bots, time_left=None, strikes=(0,) * len(names), boards=boards, result=result, turn=None)
    message = update_of(entry.game, extras=True)(scene, view)
    state: Message = message.get("state", message)
    return state


def first_view(entry: MatchEntry) -> View:
    """The position at the start, for a match without any other position."""
    row = FORMATS[entry.game]
    game = with_options(row.game, entry.options)
    return seeded_match(game, len(entry.players), row.terms, entry.seed).view(None)


class RankingMethod(Enum):
    """The points for a win and for a draw."""

    AMBITIOUS = (3, 1)
    BALANCED = (2, 1)
    PUNITIVE = (3, 2)


class Rank(Struct, frozen=True, kw_only=True):
    """One bot's line in a ranking."""

    bot: str
    wins: int
    draws: int
    losses: int
    played: int
    score: int


def ranked(lines: Iterable[ContestLine], method: RankingMethod = RankingMethod.AMBITIOUS) -> list[Rank]:
    """The best first: by score, then more wins, then fewer losses."""
    win, draw = method.value
    ranks = [
        Rank(
            bot=line.name,
            wins=line.wins,
            draws=line.draws,
            losses=line.losses,
            played=line.wins + line.draws + line.losses,
            score=win * line.wins + draw * line.draws,
        )
        for line in lines
    ]
    return sorted(ranks, key=lambda rank: (-rank.score, -rank.wins, rank.losses, rank.bot))
