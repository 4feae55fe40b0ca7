"""Contest document: everything an organiser decides about a contest, read from TOML or JSON and checked."""

import re
import tomllib
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from botdrome.contest.document_checks import problems_of
from botdrome.contest.document_keys import MOST_DEPTH, fullest_line, line_of, plainly, value_problems
from botdrome.formats import FORMATS
from botdrome.match.terms import Bank, Terms, read_time_control

FormatName = Literal["round-robin", "gauntlet", "knockout", "double-elimination", "swiss", "ladder", "groups"]
TieBreak = Literal["direct", "opponents", "sonneborn-berger", "wins", "games"]
"""direct: the score of the tied entrants against each other; opponents: the mean score of the opponents."""
Positive = Annotated[int, Meta(ge=1)]
Moment = Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$")]
"""A moment with its time zone, such as 2026-11-20T14:00:00Z."""
PAIRING = 2
"""The newest version of the rules for Swiss pairs. A contest keeps that of its start."""
LARGEST = 256 << 10
"""Characters of a document."""
MOST_DOTS = 200
"""Dots in a line."""

EXAMPLE = """\
name = "autumn-cup"
game = "gomoku"
format = "swiss"
rounds = 5
games = 2

[entry]
kind = "open"
per_owner = 2
"""


class BadDocument(ValueError):
    """A document that cannot be used. The text names the line, if it is known, what is wrong and what would be right."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(f"line {line}: {problem}" if line else problem)
        self.problem, self.line = problem, line


class DocumentPart(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"format_": "format"}):
    """A table of the document."""


class EntryRules(DocumentPart, frozen=True):
    """Which bots may enter."""

    kind: Annotated[Literal["open", "list", "password"], Meta(description="open: any registered bot; list: those in `bots`")] = (
        "open"
    )
    bots: Annotated[tuple[str, ...], Meta(description="the bots that may enter, if kind is list")] = ()
    password: Annotated[str, Meta(description="the word that entrants must know, if kind is password")] = ""
    per_owner: Annotated[Positive | None, Meta(description="the largest number of bots of one owner")] = None
    most: Annotated[Positive | None, Meta(description="the largest number of entrants")] = None
    late: Annotated[bool, Meta(description="bots may enter after the start, where the format allows it")] = False
    versions: Annotated[bool, Meta(description="a new version of a bot may replace the old one while the contest runs")] = False


class Penalties(DocumentPart, frozen=True):
    """What happens to a bot that does not play."""

    no_show: Annotated[
        Literal["forfeit", "skip", "wait"],
        Meta(description="forfeit: the absent bot loses; skip: the match does not count; wait: for the organiser"),
    ] = "forfeit"
    wait: Annotated[float, Meta(description="seconds to wait for an absent bot", ge=0)] = 60.0
    withdraw_after: Annotated[
        Positive | None, Meta(description="no-shows and crashes after which a bot is withdrawn; none: never")
    ] = None


class ClockRules(DocumentPart, frozen=True):
    """The time control; without it, that of the game."""

    limit: Annotated[Positive | None, Meta(description="milliseconds for a move")] = None
    control: Annotated[str, Meta(description="a chess clock in seconds, such as 40/60+0.6")] = ""
    bank: Annotated[int, Meta(description="milliseconds for the whole match on top of the limits of moves", ge=0)] = 0


class OfflineEntrant(DocumentPart, frozen=True):
    """A bot of a contest that runs offline."""

    bot: Annotated[str, Meta(description="house:NAME, FILE.py[:NAME], MODULE:NAME, or a program: 'view:...', 'cmd:...'")]
    name: str = ""
    owner: str = ""


class ContestDocument(DocumentPart, frozen=True):
    """A contest, as its organiser describes it."""

    name: Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[^/\x00-\x1f]+$", description="as bots name it at login")]
    game: str
    title: str = ""
    owner: str = ""
    options: dict[str, Any] = {}
    players: Annotated[
        Annotated[int, Meta(ge=2)] | None, Meta(description="seats at a table; by default two, or the fewest the game allows")
    ] = None
    format_: FormatName = "round-robin"
    rounds: Annotated[Positive | None, Meta(description="rounds of a Swiss; by default the logarithm of the entrants")] = None
    games: Annotated[Positive | None, Meta(description="matches of a meeting; by default one for each seat")] = None
    rotate: Annotated[bool, Meta(description="the seats rotate from match to match of a meeting")] = True
    best_of: Annotated[Positive | None, Meta(description="knockout: matches of a meeting, which ends once it is decided")] = None
    groups: Annotated[
        Annotated[int, Meta(ge=2)] | None,
        Meta(description="groups: how many; by default as many as leave twice a table's players in each"),
    ] = None
    bye: Annotated[float, Meta(ge=0, le=1, multiple_of=0.5, description="Swiss: 1, 0.5 or 0: the share of a meeting")] = 1.0
    pairing: Annotated[int, Meta(ge=1, le=PAIRING, description="Swiss: the version of the rules for pairs")] = PAIRING
    advance: Annotated[int, Meta(ge=1, description="groups: entrants of each group that go on to the knockout")] = 2
    champion: Annotated[str, Meta(description="gauntlet: the bot that meets all others; by default the first entrant")] = ""
    seed: int = 1
    start: Moment | None = None
    end: Moment | None = None
    tie_breaks: tuple[TieBreak, ...] = ("direct", "opponents", "wins")
    entry: EntryRules = EntryRules()
    clock: ClockRules = ClockRules()
    penalties: Penalties = Penalties()
    entrants: tuple[OfflineEntrant, ...] = ()

    @property
    def seats(self) -> int:
        """The number of players at a table."""
        return self.players or max(2, FORMATS[self.game].game.players[0])

    @property
    def terms(self) -> Terms:
        """The terms of the game, with the time control of the document."""
        terms, clock = FORMATS[self.game].terms, self.clock
        pace = terms.pace
        if clock.control:
            control = read_time_control(clock.control)
            pace = replace(pace, limit=control.limit, first=None, grace=0, bank=control.bank)
        if clock.limit is not None:
            pace = replace(pace, limit=clock.limit, first=None)
        if clock.bank:
            pace = replace(pace, bank=Bank(clock.bank))
        return terms if pace == terms.pace else replace(terms, pace=pace)

    @property
    def games_per_meeting(self) -> int:
        return self.games or self.seats


def stored_document(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a document that was stored. Documents from before there were versions of the pairing have the first."""
    return {"pairing": 1, **data}


def read_document(text: str) -> ContestDocument:
    """Read TOML. Raise BadDocument with the line."""
    check_size(text)
    try:
        data = _with_moments(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        last = max(1, len(text.splitlines()))
        raise BadDocument(f"this is not TOML: {error}", int(found[1]) if found else last) from None
    except RecursionError:
        raise BadDocument(f"at most {MOST_DEPTH} tables and lists inside each other", fullest_line(text, "[{.")) from None
    except ValueError:
        raise BadDocument("a number has too many digits; 64 bits are allowed", fullest_line(text, "0123456789")) from None
    try:
        return document_from(data)
    except BadDocument as bad:
        raise BadDocument(bad.problem, line_of(bad.problem, text)) from None


def document_from(data: Any) -> ContestDocument:
    """Check a document that was read from TOML or JSON. Raise BadDocument without a line."""
    if not isinstance(data, Mapping):
        raise BadDocument(
            f"the document is a table with keys such as name and game, not {type(data).__name__}; TOML goes to `toml`"
        )
    for problem in value_problems(data):
        raise BadDocument(problem)
    try:
        document = msgspec.convert(dict(data), ContestDocument)
    except msgspec.ValidationError as error:
        raise BadDocument(plainly(str(error), data)) from None
    check_document(document)
    return document


def check_size(text: str) -> None:
    """Raise BadDocument if the parser would take long. Its time grows with the square of the dots in a key."""
    if len(text) > LARGEST:
        raise BadDocument(f"the document has {len(text)} characters; at most {LARGEST} are allowed")
    for number, line in enumerate(text.splitlines(), 1):
        if line.count(".") > MOST_DOTS:
            raise BadDocument(f"the line has {line.count('.')} dots; at most {MOST_DOTS} are allowed, so break it", number)


def check_document(document: ContestDocument) -> None:
    """Raise BadDocument if its parts do not fit together. The problem begins with the key, as in `rounds: ...`."""
    for problem in problems_of(document):
        raise BadDocument(problem)


def _with_moments(data: Any) -> Any:
    """Turn TOML's moments into text, as JSON has them."""
    if isinstance(data, dict):
        return {key: _with_moments(value) for key, value in data.items()}
    return data.isoformat() if hasattr(data, "isoformat") else data
