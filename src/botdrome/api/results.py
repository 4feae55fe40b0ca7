"""Results: how a match ended, in the words of the native protocol, and the ranking of a contest."""

from enum import Enum
from typing import Annotated

from msgspec import Meta, Struct

from botdrome.catalogue import CATALOGUE
from botdrome.contest.formats.format import Standing
from botdrome.contest.progress import ContestProgress
from botdrome.games.game import View
from botdrome.games.options import with_options
from botdrome.match.record import seeded_match
from botdrome.store.contest_journal import BEFORE, ContestJournal, UnknownContest
from botdrome.store.store import MatchEntry, Store
from botdrome.wire.battlebot.messages import Message, UpdateParts, update_of


def native_state(entry: MatchEntry, view: View) -> Message:
    """The state as players receive it; `result` has the reason and the victor's name."""
    result, names = entry.result, entry.players
    boards = result.boards if result else ()
    board = max(len(boards) - 1, 0)
    bots = tuple(names[(seat + board) % len(names)] for seat in range(len(names)))
    scene = UpdateParts(
        names,
        bots,
        time_left=None,
        strikes=(0,) * len(names),
        boards=boards,
        result=result,
        turn=None,
    )
    message = update_of(entry.game, extras=True)(scene, view)
    state: Message = message.get("state", message)
    return state


def first_view(entry: MatchEntry) -> View:
    """The position at the start, for a match without any other position."""
    row = CATALOGUE[entry.game]
    game = with_options(row.game, entry.options)
    return seeded_match(game, len(entry.players), row.terms, entry.seed).view(None)


class RankingMethod(Enum):
    """The points for a win and for a draw."""

    AMBITIOUS = (3, 1)
    BALANCED = (2, 1)
    PUNITIVE = (3, 2)

    def points(self, wins: int, draws: int) -> int:
        win, draw = self.value
        return int(win * wins + draw * draws)


class Rank(Struct, frozen=True):
    """One bot's line in the standings of a contest."""

    place: int
    bot: str
    wins: int
    draws: int
    losses: int
    played: int
    score: Annotated[
        float,
        Meta(
            description="As in the standings of its document; without a document, the points of "
            "the method."
        ),
    ]
    note: Annotated[
        str, Meta(description="Such as `lost the final`; empty without a document.")
    ] = ""


async def contest_ranks(
    store: Store, game: str, name: str, method: RankingMethod = RankingMethod.AMBITIOUS
) -> tuple[list[Rank], ContestProgress | None]:
    """Return the standings of a contest, best first, and its progress if it has a document.

    A contest without a document is ranked by the points of the method, then more wins, then fewer
    losses.
    """
    progress = await _progress(store, game, name)
    if progress is not None:
        names = [entrant.name for entrant in progress.entrants]
        return [_rank(one, names[one.entrant]) for one in progress.standings()], progress
    lines = [
        (method.points(line.wins, line.draws), line)
        for line in await store.contest_lines(game, name)
    ]
    lines.sort(key=lambda item: (-item[0], -item[1].wins, item[1].losses, item[1].name))
    return [
        Rank(
            place,
            line.name,
            line.wins,
            line.draws,
            line.losses,
            line.wins + line.draws + line.losses,
            points,
        )
        for place, (points, line) in enumerate(lines, 1)
    ], None


async def _progress(store: Store, game: str, name: str) -> ContestProgress | None:
    """Return the progress of a contest that has a document and has started."""
    try:
        stored = await ContestJournal(store).load(name)
    except UnknownContest:
        return None
    if stored.entry.document.game != game or stored.entry.state in BEFORE:
        return None
    return ContestProgress(stored.entry.document, stored.entrants, stored.results)


def _rank(one: Standing, bot: str) -> Rank:
    return Rank(
        one.place,
        bot,
        one.wins,
        one.draws,
        one.losses,
        one.wins + one.draws + one.losses,
        one.score,
        one.note,
    )
