"""What `botdrome check` found out about a bot: problems, times and memory."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, field

from botdrome.analysis.position_file import PositionFile

Kind = Literal[
    "illegal move", "crash", "timeout", "too slow", "nondeterminism", "memory growth", "puzzle"
]

WARM_UP = 0.25
"""The part of the answers after which a bot should have all the memory that it needs."""
MOST_GROWTH = 16 << 20
"""Bytes that a process may grow after that."""
FEWEST_SAMPLES = 20
"""The growth of a process with fewer answers is not judged."""


class Finding(Struct, frozen=True):
    """A problem of a bot."""

    kind: Kind
    text: str
    position: PositionFile | None = None


class AnswerTimes(Struct, frozen=True):
    """The seconds of a bot's answers."""

    p50: float
    p99: float
    slowest: float


class CheckReport(Struct):
    positions: int = 0
    """The number of answers to positions from matches of house bots."""
    repeated: int = 0
    """The number of answers that a second copy gave, too."""
    findings: list[Finding] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    """The seconds from the start of a program to its first answer."""
    slowest: PositionFile | None = None
    memory: dict[int, list[int]] = field(default_factory=dict)
    """The bytes of each process after each answer."""
    matches: tuple[int, int, int] = (0, 0, 0)
    """Wins, draws and losses in whole matches."""
    puzzles: int = 0
    solved: int = 0

    @property
    def growth(self) -> int | None:
        """The largest growth of a process, in bytes; None if no process gave enough answers to
        judge it.
        """
        judged = [samples for samples in self.memory.values() if len(samples) >= FEWEST_SAMPLES]
        return max(map(growth_of, judged), default=None)

    @property
    def times(self) -> AnswerTimes | None:
        return times_of(self.seconds) if self.seconds else None

    def of_kind(self, kind: Kind) -> list[Finding]:
        return [finding for finding in self.findings if finding.kind == kind]


def times_of(seconds: Sequence[float]) -> AnswerTimes:
    ranked = sorted(seconds)
    return AnswerTimes(ranked[len(ranked) // 2], ranked[len(ranked) * 99 // 100], ranked[-1])


def growth_of(samples: Sequence[int]) -> int:
    """Return by how many bytes a process grew after its warm-up."""
    quarter = len(samples) // 4
    first = int(len(samples) * WARM_UP)
    return max(0, _median(samples[-quarter:]) - _median(samples[first : first + quarter]))


def _median(samples: Sequence[int]) -> int:
    return sorted(samples)[len(samples) // 2]
