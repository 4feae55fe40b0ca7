"""Gauntlet: one entrant, the champion, meets every group of the others."""

from collections.abc import Iterator, Sequence
from math import comb

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import CannotContinue, Entrant, EntrantNumber, Results, Round, Standing
from botdrome.contest.formats.round_robin import RoundRobin, all_groups
from botdrome.contest.formats.scores import ranked_by_score


class Gauntlet(RoundRobin):
    """The champion plays far more than the others, so the order is by the share of points."""

    def expected(self, document: ContestDocument, entrants: int) -> int:
        return comb(entrants - 1, document.seats - 1) * document.games_per_meeting if entrants else 0

    def groups(
        self, document: ContestDocument, entrants: Sequence[Entrant], players: Sequence[EntrantNumber]
    ) -> Iterator[tuple[EntrantNumber, ...]]:
        champion = champion_of(document, entrants, players)
        others = [number for number in players if number != champion]
        return ((champion, *group) for group in all_groups(others, document.seats - 1))

    def ranked(
        self, document: ContestDocument, entrants: Sequence[Entrant], rounds: Sequence[Round], results: Results
    ) -> list[Standing]:
        return ranked_by_score(document, range(len(entrants)), rounds, results, by_share=True)


def champion_of(document: ContestDocument, entrants: Sequence[Entrant], players: Sequence[EntrantNumber]) -> EntrantNumber:
    """Return the champion: the player of that name, the bot that the document gives that name, or the house bot of that name.

    Raise CannotContinue if it does not play.
    """
    name = document.champion
    names = [name, *(one.bot for one in document.entrants if one.name == name), f"house:{name}"] if name else []
    by_name = {entrants[number].name: number for number in players}
    found = next((by_name[one] for one in names if one in by_name), None) if name else next(iter(players), None)
    if found is None:
        raise CannotContinue(f"champion: {name!r} has not entered; let it enter, or name one of the entrants")
    return found
