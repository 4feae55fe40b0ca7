"""Store: what lasts. Bots, matches with their records, and what contests have played."""

from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct

from botdrome.match.events import Result
from botdrome.match.record import Seed
from botdrome.match.terms import PaceName

if TYPE_CHECKING:
    from botdrome.store.reports import Reports

Epoch = int
"""Milliseconds since 1970."""

Status = Literal["running", "ended", "aborted"]
BotOrder = Literal["registered", "name", "owner", "game"]


class NameTaken(Exception):
    """A bot is registered with that name already. Names are unique over all games."""


class LooksAlike(NameTaken):
    """The name of a registered bot, for which people would take the new one."""


class UnknownBot(Exception):
    """No bot is registered with that name."""


class UnknownMatch(Exception):
    """No match has that id."""


class AlreadyOver(Exception):
    """A match has ended in another way already, such as one that was aborted by the server that started next."""


class BadStoreUrl(ValueError):
    """Not the URL of a store."""


class StoreUnavailable(Exception):
    """The store cannot be opened, read or written at present; what was to be changed may not have been."""


class Unstorable(ValueError):
    """A value that no database takes, such as a time beyond 64 bits."""


class BadExport(ValueError):
    """Not a file that `export` wrote, or not all of it: with the line and the reason."""


class BotEntry(Struct, frozen=True):
    """A registered bot. Of its token only the SHA-256 is kept, in hexadecimal; None: it was revoked."""

    name: str
    game: str
    owner: str
    registered: Epoch
    token_hash: str | None
    url: str | None = None
    """Where it is called; None: it connects by itself."""


class MatchEntry(Struct, frozen=True):
    """A match, without the bulk: its record and the flight records of its seats are fetched apart."""

    id: str
    game: str
    players: tuple[str, ...]
    """Names in the order of the match's players."""
    started: Epoch
    contest: str | None = None
    options: dict[str, Any] = {}
    seed: Seed = 0
    status: Status = "running"
    ended: Epoch | None = None
    result: Result | None = None
    view: dict[str, Any] | None = None
    """The public view of the last position, once it has ended."""
    reason: str = ""
    """Why it was aborted."""
    owners: tuple[str, ...] = ()
    """To whom each player's seat belongs (see `server/lobby/owners.py`); empty: the store is older than that."""
    pace: PaceName = "usual"
    """Matches at any other pace are for people, and unrated."""


class Note(Struct, frozen=True):
    """A small thing worth keeping beside the matches, such as a line of a table of players. The last one of a name stands."""

    book: str
    name: str
    value: dict[str, Any]


class Finish(Struct, frozen=True):
    """All that is kept of a match when it is over, or when one of its boards is.

    After a board, the status is still `running`, and `result` says what the match comes to if it is aborted now. Nobody is shown
    that while the match runs. It stands if nothing else is stored of the match, because the server crashed.
    """

    id: str
    status: Status
    ended: Epoch | None
    result: Result | None
    view: dict[str, Any]
    record: bytes
    """The match file."""
    flights: tuple[bytes, ...] = ()
    """The flight record of each player, packed."""
    reason: str = ""
    notes: tuple[Note, ...] = ()
    """On disk together with the rest, or not at all."""


class Wanted(Struct, frozen=True):
    """Which matches: all conditions must hold."""

    game: str | None = None
    contest: str | None = None
    all_of: Sequence[str] = ()
    """Players who all took part."""
    any_of: Sequence[str] = ()
    """Players of whom one took part."""
    status: Status | None = None
    winner: str | None = None
    """The player that won alone."""
    since: Epoch | None = None
    """When they started, at the earliest."""
    until: Epoch | None = None
    """Before when they started."""
    oldest_first: bool = False
    limit: int | None = None
    offset: int = 0


class ContestLine(Struct, frozen=True):
    """What one bot has to show for a contest: ended matches alone count."""

    name: str
    wins: int
    draws: int
    losses: int


Meetings = Mapping[tuple[str, ...], int]
"""How often players have met, in the order of their seats."""


class Source(Struct, frozen=True):
    """Where a store is: the kind of the database, and its file or URL."""

    kind: Literal["sqlite", "postgresql"]
    place: str


class Store(Protocol):
    """Every change is on disk when its call returns, unless it says otherwise. Changes are made in the order of the calls.

    While the store cannot be written, `begin`, `finish` and `keep(..., retry=True)` wait until it can, in their order. All other
    changes fail at once with StoreUnavailable.
    """

    reports: "Reports"

    @property
    def trouble(self) -> str:
        """Why nothing can be written at present, in a sentence for the operator; empty: all is well."""

    @property
    def unwritten(self) -> int:
        """How many ends of matches are not on disk yet."""

    async def probe(self) -> None:
        """StoreUnavailable unless something could be written and read just now."""

    async def close(self) -> None:
        """Everything that was handed over is written first. If the store is down, that is tried for some seconds, and then
        StoreUnavailable says how many results were not stored."""

    @property
    def source(self) -> "Source":
        """Where another process finds it."""

    async def settled(self) -> None:
        """What `begin` has noted can be read by other processes too."""

    async def claim(self) -> bool:
        """Be the server whose store it is, until it is closed or the process ends. False: another one is."""

    async def register(self, bot: BotEntry) -> None:
        """NameTaken if there is one with that name, LooksAlike if there is one whose name looks like it."""

    async def bot(self, name: str) -> BotEntry | None: ...

    async def bots_like(self, name: str) -> list[BotEntry]:
        """Those whose names people would take for this one, by the time of registration; not the bot of that name itself."""

    async def bots(
        self,
        game: str | None = None,
        owner: str | None = None,
        limit: int | None = None,
        offset: int = 0,
        order: BotOrder = "registered",
        falling: bool = False,
    ) -> list[BotEntry]: ...

    async def count_bots(self, game: str | None = None, owner: str | None = None) -> int: ...

    async def change_token(self, name: str, token_hash: str | None) -> None:
        """UnknownBot if there is none with that name."""

    async def change_url(self, name: str, url: str | None) -> None:
        """UnknownBot if there is none with that name."""

    def begin(self, match: MatchEntry) -> None:
        """Note that a match runs. Does not wait: it is on disk with the next change at the latest. All that is read after
        the call has it."""

    def finish(self, finish: Finish) -> Awaitable[None]:
        """Gathered: many at once cost little more than one. The second time changes nothing.

        It is under way when this returns, and on disk when that has been awaited, however long the store is down. UnknownMatch
        if the match never began, AlreadyOver if it has another end; StoreUnavailable only if the store is closed meanwhile.
        """

    async def abort_running(self, reason: str, now: Epoch) -> int:
        """Mark all matches that run as aborted, as after a crash; how many there were."""

    async def match(self, match_id: str) -> MatchEntry | None: ...

    async def record(self, match_id: str) -> bytes | None:
        """The match file; None while it runs."""

    async def flight(self, match_id: str, player: int) -> bytes | None: ...

    async def matches(self, wanted: Wanted) -> list[MatchEntry]: ...

    async def count(self, wanted: Wanted) -> int:
        """How many there are, limit and offset aside."""

    async def contests(self, game: str) -> list[str]:
        """By their first match."""

    async def contest_lines(self, game: str, contest: str) -> list[ContestLine]: ...

    async def meetings(self, game: str, contest: str) -> tuple[Meetings, Meetings]:
        """How often players have met in matches that have ended, and in matches that run; aborted ones do not count."""

    async def keep(self, notes: Sequence[Note], retry: bool = False) -> None:
        """Store notes that belong to the end of no match; `retry`: as `finish` does, however long the store is down."""

    async def notes(self, book: str) -> dict[str, dict[str, Any]]:
        """What the notes of a book say, by their names."""

    async def strike(self, book: str, names: Sequence[str]) -> None:
        """Delete these notes, where they are there."""

    def export(self) -> AsyncIterator[bytes]:
        """Everything, as JSON lines."""

    async def restore(self, lines: AsyncIterator[bytes]) -> int:
        """Take in what `export` gave; what is there already stays as it is. How many entries were new.

        BadExport: what stands before the bad line was taken in."""
