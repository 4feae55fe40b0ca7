"""The interface of the formats of contests: pure functions of the document, the entrants and the results so far.

A format plans in rounds, numbered from 1. All fixtures of a round may be played at once and in any order; the next round is
planned when all of them have results. So the plan depends only on results, and a contest that was interrupted continues as if it
had not been. `contest/progress.py` runs a format: use it rather than a format itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from botdrome.contest.document import ContestDocument

EntrantNumber = int
"""An index in the list of entrants, which only grows."""


class Entrant(Struct, frozen=True):
    """A bot in a contest. The earlier entrants are seeded higher."""

    name: str
    owner: str = ""
    version: str = ""
    joined: int = 0
    """The first round in which it plays."""
    left: int | None = None
    """The first round in which it no longer plays; None: it plays to the end."""
    replaced: tuple[str, ...] = ()
    """The versions that others have replaced."""

    def plays_in(self, round_: int) -> bool:
        return self.joined <= round_ and (self.left is None or round_ < self.left)


class ContestFixture(Struct, frozen=True, gc=False):
    """One match to play."""

    key: str
    """Unique in the contest, such as `3.2.1`: round, meeting, game. The journal stores the result under it."""
    entrants: tuple[EntrantNumber, ...]
    """By seat."""
    seed: int
    """Each meeting has seeds of its own; one seed is played once per seating."""

    @property
    def round(self) -> int:
        return int(self.key.split(".")[0])

    @property
    def meeting(self) -> str:
        return self.key.rpartition(".")[0]


class FixtureResult(Struct, frozen=True, omit_defaults=True):
    """The result of a fixture, by seat."""

    places: tuple[int, ...]
    """1 for the winner; tied players share a place. Empty: the match does not count, as with the penalty `skip`."""
    absent: tuple[int, ...] = ()
    """The seats that did not show up."""
    crashed: tuple[int, ...] = ()
    """The seats that were put out by a fault."""
    match: str = ""
    """The id of the match; empty if none was played."""
    fingerprint: int = 0
    """The same number for the same game, move by move; 0: unknown."""


Results = Mapping[str, FixtureResult]
"""By the key of the fixture."""


class CannotContinue(Exception):
    """Too few entrants are left. The text says how many there are and how many are needed."""


class Round(Struct, frozen=True):
    """The fixtures of one round, including those that have results."""

    number: int
    fixtures: Sequence[ContestFixture]
    byes: tuple[EntrantNumber, ...] = ()


class Standing(Struct, frozen=True):
    """The line of one entrant."""

    entrant: EntrantNumber
    place: int
    """Entrants that cannot be told apart share a place."""
    score: float
    """The sum over its matches of (opponents beaten + level / 2) / opponents. A bye counts as the document says."""
    wins: int = 0
    draws: int = 0
    losses: int = 0
    byes: int = 0
    no_shows: int = 0
    crashes: int = 0
    tie_breaks: tuple[float, ...] = ()
    """The values of the document's tie-breaks, in their order."""
    note: str = ""
    """Such as `lost the final`, `group 2`."""


class ContestFormat(Protocol):
    """One format. All methods are pure; entrants are given in the order of their seeding."""

    @property
    def late(self) -> Literal["now", "next", "never"]:
        """When a late entrant begins to play: in the current round, in the next one, or never."""

    def refusal(self, document: ContestDocument, entrants: int) -> str:
        """Return why that many entrants cannot play this format at these tables; empty: they can."""

    def expected(self, document: ContestDocument, entrants: int) -> int:
        """Return about how many matches that many entrants play; 0: there is no end."""

    def rounds(self, document: ContestDocument, entrants: Sequence[Entrant], results: Results) -> Iterator[Round]:
        """Yield the rounds. Ask for the next one only when all fixtures of the last one have results.

        A round is yielded again, with more fixtures, if its results demand further matches. The arguments may grow meanwhile.
        Raise CannotContinue if too few entrants are left.
        """

    def next_round(self, document: ContestDocument, entrants: Sequence[Entrant], results: Results) -> Round | None:
        """Return the first round with fixtures that have no results; None: the contest is over."""

    def ranked(
        self, document: ContestDocument, entrants: Sequence[Entrant], rounds: Sequence[Round], results: Results
    ) -> list[Standing]:
        """Return the standings after these rounds, best first."""

    def standings(self, document: ContestDocument, entrants: Sequence[Entrant], results: Results) -> list[Standing]:
        """Return the standings, best first."""
