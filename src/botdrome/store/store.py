"""The interface of the store: bots, matches with their records, contests, and notes."""

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
    """A bot with that name exists. Names are unique over all games."""


class LooksAlike(NameTaken):
    """The name looks like that of a registered bot, which is the argument."""


class UnknownBot(Exception):
    """No bot is registered with that name."""


class UnknownMatch(Exception):
    """No match has that id."""


class AlreadyOver(Exception):
    """The match has another end already, for example because the next server aborted it."""


class BadStoreUrl(ValueError):
    """Not the URL of a store."""


class StoreUnavailable(Exception):
    """The store cannot be opened, read or written at present. A change may be lost."""


class Fenced(StoreUnavailable):
    """Other nodes have declared this node dead, so it can store nothing any more."""


class Unstorable(ValueError):
    """A value that no database can store, such as a time beyond 64 bits."""


class BadExport(ValueError):
    """A file that `export` did not write, or that is incomplete; the text has the line and the
    reason.
    """


class BotEntry(Struct, frozen=True):
    """A registered bot.

    `token_hash` is the SHA-256 of its token, in hexadecimal; None: the token was revoked.
    """

    name: str
    game: str
    owner: str
    registered: Epoch
    token_hash: str | None
    url: str | None = None
    """The URL at which the server calls it; None: it connects to the server."""


class MatchEntry(Struct, frozen=True):
    """A match without its record and flight records, which are fetched separately."""

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
    """The owner of each player's seat (see `server/lobby/owners.py`); empty: stored by an older
    version.
    """
    pace: PaceName = "usual"
    """Matches at any other pace are for people, and are unrated."""
    node: str = ""
    """The node that plays it; empty: a single server does. The store fills it in."""
    former: tuple[str, ...] = ()
    """The dead nodes that played it before, oldest first."""
    versions: tuple[str, ...] = ()
    """The version of the bot at each seat, where it named one; empty: no bot did."""

    def version(self, player: int) -> str:
        """Return the version of a player's bot; empty: it named none."""
        return self.versions[player] if self.versions else ""


class Note(Struct, frozen=True):
    """A named value, such as a player's line in a table.

    A later note replaces an earlier one of the same name.
    """

    book: str
    name: str
    value: dict[str, Any]


class Finish(Struct, frozen=True):
    """The end of a match, or of one of its boards.

    After a board the status is still `running`, and `result` is the result if the match is aborted
    now. It is hidden while the match runs, and counts only if the server crashes before it stores
    the end.
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
    """Stored in the same transaction."""


class Wanted(Struct, frozen=True):
    """The conditions of a list of matches; all must hold."""

    game: str | None = None
    contest: str | None = None
    all_of: Sequence[str] = ()
    """Players that all took part."""
    any_of: Sequence[str] = ()
    """At least one of these players took part."""
    status: Status | None = None
    winner: str | None = None
    """The only winner."""
    since: Epoch | None = None
    """Matches that started at this time or later."""
    until: Epoch | None = None
    """Matches that started before this time."""
    oldest_first: bool = False
    limit: int | None = None
    offset: int = 0


class ContestLine(Struct, frozen=True):
    """The results of one bot in a contest. Only ended matches count."""

    name: str
    wins: int
    draws: int
    losses: int


Meetings = Mapping[tuple[str, ...], int]
"""The number of matches per group of players, in the order of their seats."""


class Source(Struct, frozen=True):
    """The location of a store: the kind of the database, and its file or URL."""

    kind: Literal["sqlite", "postgresql"]
    place: str


class Store(Protocol):
    """Every change is on disk when its call returns, unless noted otherwise.

    Changes are made in the order of the calls.

    While the store cannot be written, `begin`, `finish` and `keep(..., retry=True)` wait until it
    can, in their order. All other changes fail at once with StoreUnavailable.
    """

    reports: "Reports"

    @property
    def trouble(self) -> str:
        """Why nothing can be written at present, for the operator; empty: it can."""

    @property
    def unwritten(self) -> int:
        """The number of ends of matches that are not on disk yet."""

    async def probe(self) -> None:
        """Write and read something. Raise StoreUnavailable if that fails."""

    async def close(self) -> None:
        """Write everything first.

        If the store stays down for 10 s, raise StoreUnavailable with the number of lost results.
        """

    @property
    def source(self) -> "Source":
        """The location, for other processes."""

    async def settled(self) -> None:
        """Wait until other processes can read all begun matches."""

    async def claim(self) -> bool:
        """Claim the store for this server until it is closed or the process ends.

        False: another server has it.
        """

    def write_as(self, name: str, epoch: int) -> None:
        """Write as this node from now on: changes raise Fenced once the node was declared dead."""

    async def orphans(self, of_single_servers: bool) -> list[str]:
        """Return the ids of running matches whose node is dead."""

    async def adopt(self, match_ids: Sequence[str]) -> list[MatchEntry]:
        """Make this node the owner of those of the matches that are orphans, and return them."""

    async def register(self, bot: BotEntry) -> None:
        """Raise NameTaken if the name exists, LooksAlike if a similar name does."""

    async def bot(self, name: str) -> BotEntry | None: ...

    async def bot_and_alike(self, name: str) -> tuple[BotEntry | None, list[BotEntry]]:
        """Return the bot, and the other bots whose names look like this one, oldest first.

        One read finds both.
        """

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
        """Raise UnknownBot if there is no such bot."""

    async def change_url(self, name: str, url: str | None) -> None:
        """Raise UnknownBot if there is no such bot."""

    def begin(self, match: MatchEntry) -> None:
        """Store that a match runs, without waiting: it is on disk with the next change at the
        latest. Later reads see it.
        """

    def finish(self, finish: Finish) -> Awaitable[None]:
        """Store the end of a match.

        Many at once cost little more than one; repeating it changes nothing.

        The end is queued when this returns, and on disk when the result has been awaited, however
        long the store is down. Raise UnknownMatch if the match never began, AlreadyOver if it has
        another end, StoreUnavailable if the store is closed first.
        """

    async def abort_running(self, reason: str, now: Epoch) -> int:
        """Mark all running matches as aborted, as after a crash, and return their number."""

    async def abort(self, match_ids: Sequence[str], reason: str, now: Epoch) -> None:
        """Mark those of the matches as aborted that still run on this node."""

    async def match(self, match_id: str) -> MatchEntry | None: ...

    async def record(self, match_id: str) -> bytes | None:
        """The match file; None while it runs."""

    async def flight(self, match_id: str, player: int) -> bytes | None: ...

    async def matches(self, wanted: Wanted) -> list[MatchEntry]: ...

    async def count(self, wanted: Wanted) -> int:
        """Return the number of matches, regardless of limit and offset."""

    async def contests(self, game: str) -> list[str]:
        """Return the names of the contests, in the order of their first matches."""

    async def contest_lines(self, game: str, contest: str) -> list[ContestLine]: ...

    async def meetings(self, game: str, contest: str) -> tuple[Meetings, Meetings]:
        """Return the meetings in ended matches and in running ones.

        Aborted matches do not count.
        """

    async def keep(
        self,
        notes: Sequence[Note],
        retry: bool = False,
        instead_of: tuple[str, Sequence[str]] | None = None,
    ) -> None:
        """Store notes outside any match; `retry`: wait for an outage to end, as `finish` does.

        `instead_of` is a book, and the names of notes in it that are deleted in the same
        transaction.
        """

    async def notes(self, book: str) -> dict[str, dict[str, Any]]:
        """Return the values of the notes of a book, by name."""

    async def strike(self, book: str, names: Sequence[str]) -> None:
        """Delete these notes if they exist."""

    def export(self) -> AsyncIterator[bytes]:
        """Yield everything as JSON lines."""

    async def restore(self, lines: AsyncIterator[bytes]) -> int:
        """Import lines of `export`, and return the number of new entries.

        Existing entries stay unchanged.

        BadExport: the lines before the bad one were imported.
        """
