"""Contest document: everything an organiser decides about a contest, read from TOML or JSON and
checked.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from operator import attrgetter
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import fields, replace

from botdrome.catalogue import CATALOGUE
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption
from botdrome.games.options import with_options
from botdrome.match.terms import BadTimeControl, Bank, Terms, read_time_control

# Checks of a contest document: do its parts fit together?

BELONGS = {
    "rounds": ("swiss",),
    "bye": ("swiss",),
    "best_of": ("knockout", "double-elimination", "groups"),
    "groups": ("groups",),
    "advance": ("groups",),
    "champion": ("gauntlet",),
}
"""The formats that a key belongs to."""
DEFAULTS = {"bye": 1.0, "advance": 2, "champion": ""}
MOST_MATCHES = 1000
"""The largest number of matches in a meeting: all of them are planned at once."""
LARGEST_VALUES = {
    "rounds": 10_000,
    "penalties.wait": 604_800,
    "clock.limit": 604_800_000,
    "clock.bank": 604_800_000,
}
"""The largest values of numbers: a week of waiting or thinking, in the unit of the key."""
CLOSED = ("knockout", "double-elimination", "groups")
"""The formats that take no entrants after the start."""


def problems_of(document: "ContestDocument") -> Iterator[str]:
    """Yield what is wrong, the most basic first. Each problem begins with the key."""
    row = CATALOGUE.get(document.game)
    if row is None:
        yield f"game: there is no game {document.game!r}; there are {', '.join(CATALOGUE)}"
        return
    players = row.game.players
    if document.seats not in players:
        allowed = f"{players[0]}" if len(players) == 1 else f"{max(2, players[0])} to {players[-1]}"
        yield (
            f"players: {document.game} is played by {allowed}, not {document.seats}; for "
            "example "
            f"players = {max(2, players[0])}"
        )
        return
    try:
        with_options(row.game, document.options).start(document.seats, Chance(document.seed))
    except BadOption as problem:
        yield f"options: {problem}"
    yield from _large_values(document)
    yield from _format_problems(document)
    yield from _entry_problems(document)
    yield from _class_problems(document)
    yield from _clock_problems(document)
    yield from _moment_problems(document)
    yield from _entrant_problems(document)
    yield from _grade_problems(document)


def _large_values(document: "ContestDocument") -> Iterator[str]:
    for key, largest in LARGEST_VALUES.items():
        value = attrgetter(key)(document)
        if value is not None and value > largest:
            yield f"{key}: at most {largest}, not {value}"


def _format_problems(document: "ContestDocument") -> Iterator[str]:
    format_ = document.format_
    for key, formats in BELONGS.items():
        if getattr(document, key) != DEFAULTS.get(key) and format_ not in formats:
            others = " and ".join(formats)
            yield (
                f"{key}: this belongs to {others}, not to {format_}; leave it out, or use "
                "format "
                f'= "{formats[0]}"'
            )
    for key, matches in (("games", document.games), ("best_of", document.best_of)):
        if (matches or 0) > MOST_MATCHES:
            yield (
                f"{key}: a meeting has at most {MOST_MATCHES} matches, not {matches}; for "
                f"example {key} = 5"
            )
    if document.best_of is not None:
        yield from _series_problems(document, document.best_of)
    if format_ == "double-elimination" and document.seats > 2:
        yield (
            f"format: double-elimination is played in pairs, not at tables of {document.seats}; "
            'use format = "knockout"'
        )
    yield from (
        f"tie_breaks: {name!r} is named twice; once is enough"
        for name in _twice(document.tie_breaks)
    )


def _series_problems(document: "ContestDocument", best_of: int) -> Iterator[str]:
    if best_of % 2 == 0:
        yield f"best_of: an odd number, not {best_of}; for example best_of = {best_of + 1}"
    if document.seats > 2:
        yield (
            f"best_of: this is for pairs, not for tables of {document.seats}; use games, for "
            f"example games = {document.seats}"
        )
    if document.games is not None and document.format_ != "groups":
        yield f"games: best_of = {best_of} decides how many matches are played; leave games out"


def _entry_problems(document: "ContestDocument") -> Iterator[str]:
    entry = document.entry
    if entry.kind == "list" and not entry.bots:
        yield (
            'entry.bots: kind = "list" needs the names of the bots; for example bots = '
            '["alpha", '
            '"beta"]'
        )
    if entry.kind != "list" and entry.bots:
        yield (
            f'entry.bots: kind = "{entry.kind}" has no list of bots; leave it out, or use kind '
            "= "
            '"list"'
        )
    if entry.kind == "password" and not entry.password:
        yield (
            'entry.password: kind = "password" needs a password; for example password = "autumn '
            'leaves"'
        )
    if entry.kind != "password" and entry.password:
        yield (
            f'entry.password: kind = "{entry.kind}" has no password; leave it out, or use kind '
            "= "
            '"password"'
        )
    if entry.late and document.format_ in CLOSED:
        yield (
            f"entry.late: {document.format_} takes no entrants after the start; round-robin, "
            "gauntlet, swiss and ladder do"
        )
    yield from (
        f"entry.bots: {name!r} is named twice; once is enough" for name in _twice(entry.bots)
    )


def _class_problems(document: "ContestDocument") -> Iterator[str]:
    entry = document.entry
    if entry.kind == "class" and not entry.class_:
        yield (
            'entry.class: kind = "class" needs the name of the class; for example class = "Robots '
            '2026"'
        )
    if entry.kind == "class" and document.penalties.no_show != "wait":
        yield (
            "penalties.no_show: uploaded bots wait for a runner, and must not lose by it; use "
            'no_show = "wait"'
        )
    for key in ("class_", "uploads", "runner_class"):
        if entry.kind != "class" and getattr(entry, key):
            yield f'entry.{key.strip("_")}: this belongs to kind = "class"; leave it out'


def _clock_problems(document: "ContestDocument") -> Iterator[str]:
    clock = document.clock
    if (clock.control or clock.bank) and CATALOGUE[document.game].terms.pace.beat:
        key = "control" if clock.control else "bank"
        yield (
            f"clock.{key}: {document.game} is played in ticks of fixed length; use limit, for "
            "example limit = 500"
        )
    if clock.control:
        try:
            read_time_control(clock.control)
        except BadTimeControl as problem:
            yield f"clock.control: {problem}"
        if clock.limit or clock.bank:
            yield (
                f"clock.{'limit' if clock.limit else 'bank'}: control = {clock.control!r} says "
                "everything; leave this out"
            )


def _moment_problems(document: "ContestDocument") -> Iterator[str]:
    moments = {"start": document.start, "end": document.end}
    seconds = {key: _seconds(moment) for key, moment in moments.items() if moment}
    for key, value in seconds.items():
        if value is None:
            yield (
                f"{key}: there is no moment {moments[key]!r}; for example {key} = "
                "2026-11-20T14:00:00Z"
            )
    start, end = seconds.get("start"), seconds.get("end")
    if start is not None and end is not None and end <= start:
        yield f"end: {document.end} is not after the start, {document.start}; choose a later end"


def _seconds(moment: str) -> float | None:
    """Return the seconds from a fixed moment; None if the calendar has no such moment."""
    whole = re.sub(r"(?<=[T ]\d\d:\d\d)(?=[Z+-])", ":00", moment)
    try:
        seconds: float = tomllib.loads(f"moment = {whole}")["moment"].timestamp()
    except ValueError:
        return None
    return seconds


def _entrant_problems(document: "ContestDocument") -> Iterator[str]:
    names = [entrant.name or entrant.bot for entrant in document.entrants]
    for name in _twice(names):
        last = len(names) - 1 - names[::-1].index(name)
        yield (
            f"entrants[{last}].name: two entrants are called {name!r}; give this one a name of "
            "its own, such as name = 'second'"
        )


def _grade_problems(document: "ContestDocument") -> Iterator[str]:
    names = [entrant.name or entrant.bot for entrant in document.entrants]
    for number, grade in enumerate(document.grades):
        if grade.against not in names:
            known = ", ".join(names) or "none"
            yield (
                f"grades[{number}].against: {grade.against!r} is not one of [[entrants]]; there "
                f"are: {known}"
            )


def _twice(names: Iterable[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]


# The keys of a contest document: for each, what it takes and a correct example. Errors and the
# docs use this table.

KEYS: dict[str, tuple[str, str]] = {
    "name": ("1 to 64 characters without `/`", 'name = "autumn-cup"'),
    "game": ("the name of a game", 'game = "gomoku"'),
    "title": ("text", 'title = "Autumn Cup 2026"'),
    "owner": ("text", 'owner = "alice"'),
    "options": ("a table", "options = {size = 19}"),
    "players": ("a whole number of at least 2", "players = 2"),
    "format": (
        "round-robin, gauntlet, knockout, double-elimination, swiss, ladder or groups",
        'format = "swiss"',
    ),
    "rounds": ("a whole number of at least 1", "rounds = 5"),
    "games": ("a whole number of at least 1", "games = 2"),
    "rotate": ("true or false", "rotate = true"),
    "bye": ("1, 0.5 or 0: the share of a meeting that a bye is worth", "bye = 0.5"),
    "pairing": ("1 or 2", "pairing = 2"),
    "best_of": ("an odd number of at least 1", "best_of = 5"),
    "groups": ("a whole number of at least 2", "groups = 4"),
    "advance": ("a whole number of at least 1", "advance = 2"),
    "champion": ("the name of an entrant", 'champion = "my-bot"'),
    "seed": ("a whole number", "seed = 1"),
    "start": ("a moment with its time zone", "start = 2026-11-20T14:00:00Z"),
    "end": ("a moment with its time zone", "end = 2026-11-20T18:00:00+01:00"),
    "webhook": ("a URL", 'webhook = "https://example.org/hook"'),
    "tie_breaks": (
        "a list of direct, opponents, sonneborn-berger, wins and games",
        'tie_breaks = ["direct", "wins"]',
    ),
    "entry": ("a table", 'entry = {kind = "open"}'),
    "entry.kind": ("open, list, password or class", 'kind = "open"'),
    "entry.class": ("the name of a class", 'class = "Robots 2026"'),
    "entry.uploads": ("a whole number of at least 1", "uploads = 20"),
    "entry.runner_class": ("the class of a runner", 'runner_class = "speed-1.0"'),
    "entry.bots": ("a list of names", 'bots = ["alpha", "beta"]'),
    "entry.password": ("text", 'password = "autumn leaves"'),
    "entry.per_owner": ("a whole number of at least 1", "per_owner = 2"),
    "entry.most": ("a whole number of at least 1", "most = 64"),
    "entry.late": ("true or false", "late = true"),
    "entry.versions": ("true or false", "versions = true"),
    "clock": ("a table", "clock = {limit = 1000}"),
    "clock.limit": ("milliseconds, at least 1", "limit = 1000"),
    "clock.control": ("a chess clock in seconds", 'control = "40/60+0.6"'),
    "clock.bank": ("milliseconds, at least 0", "bank = 60000"),
    "penalties": ("a table", "penalties = {withdraw_after = 3}"),
    "penalties.no_show": ("forfeit, skip or wait", 'no_show = "forfeit"'),
    "penalties.wait": ("seconds, at least 0", "wait = 60.0"),
    "penalties.withdraw_after": ("a whole number of at least 1", "withdraw_after = 3"),
    "grades": ("tables", 'grades = [{name = "A", against = "house:random", score = 0.55}]'),
    "grades.name": ("text", 'name = "A"'),
    "grades.against": ("the name of an entrant of the document", 'against = "house:random"'),
    "grades.score": ("a share of the points above 0, at most 1", "score = 0.55"),
    "hidden": ("a list of options and entrants", 'hidden = ["options", "entrants"]'),
    "entrants": ("tables", 'entrants = [{bot = "house:random"}]'),
    "entrants.bot": ("a bot", 'bot = "house:random"'),
    "entrants.name": ("text", 'name = "alpha"'),
    "entrants.owner": ("text", 'owner = "alice"'),
}

MOST_DEPTH = 8
"""Tables and lists inside each other."""


def value_problems(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the values that no key takes: tables that are too deep, and numbers of more than 64
    bits or without an end.
    """
    rest: list[tuple[str, Any, int]] = [("", data, 0)]
    while rest:
        path, value, depth = rest.pop()
        if isinstance(value, Mapping | list | tuple) and depth > MOST_DEPTH:
            yield f"{path}: at most {MOST_DEPTH} tables and lists inside each other"
        elif isinstance(value, Mapping | list | tuple):
            named = isinstance(value, Mapping)
            inside = value.items() if isinstance(value, Mapping) else enumerate(value)
            rest += (
                (f"{path}.{key}".removeprefix(".") if named else f"{path}[{key}]", one, depth + 1)
                for key, one in inside
            )
        elif isinstance(value, float) and not isfinite(value):
            yield f"{path}: a finite number, not {value}"
        elif isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            yield f"{path}: a whole number of at most 64 bits, not of {value.bit_length()}"


def fullest_line(text: str, marks: str) -> int:
    """Return the line with most of these characters."""
    lines = text.splitlines()
    return 1 + max(range(len(lines)), key=lambda index: sum(map(lines[index].count, marks)))


def plainly(
    message: str, data: Mapping[str, Any], keys: Mapping[str, tuple[str, str]] = KEYS
) -> str:
    """Return a message of msgspec as `key: what it takes, not the value; for example ...`."""
    words, _, place = message.partition(" - at ")
    path = place.strip("`").removeprefix("$").removeprefix(".")
    field = re.search(r"(unknown|missing required) field `(.*)`", words)
    if field is None:
        takes, example = keys[_row(path)]
        return f"{path}: {takes}, not {_value(path, data)!r}; for example {example}"
    key = f"{path}.{field[2]}".removeprefix(".")
    if field[1] == "unknown":
        table = _row(path)
        known = [name.rpartition(".")[2] for name in keys if name.rpartition(".")[0] == table]
        return f"{key}: there is no such key; there are {', '.join(known)}"
    return f"{key}: this key is missing; for example {keys[_row(key)][1]}"


def _row(path: str) -> str:
    """Return the key of the table for a path such as `entrants[1].bot`."""
    return re.sub(r"\[[^]]*\]", "", path)


def _value(path: str, data: Any) -> Any:
    for part in re.findall(r"[^.\[\]]+", path):
        data = data[int(part)] if isinstance(data, list | tuple) else data[part]
    return data


def line_of(problem: str, text: str) -> int | None:
    """Return the line of the key that a problem names, else that of its table."""
    found = re.match(r"[^\s:]+(?=: )", problem)
    path, lines = found[0] if found else "", _lines(text)
    while path and path not in lines:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return lines.get(path)


def _lines(text: str) -> dict[str, int]:
    """Return the first lines of all keys and tables by path."""
    lines: dict[str, int] = {}
    table, counts = "", dict[str, int]()
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*(\[\[?)\s*([\w.-]+)\s*\]", line)
        key = re.match(r"""\s*["']?([\w.-]+)["']?\s*=""", line)
        if header:
            table = header[2]
            lines.setdefault(table, number)
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = f"{table}[{counts[table]}]"
                lines[table] = number
        elif key:
            path = f"{table}.{key[1]}".removeprefix(".")
            lines.setdefault(path, number)
            lines.setdefault(path.partition(".")[0], number)
    return lines


FormatName = Literal[
    "round-robin", "gauntlet", "knockout", "double-elimination", "swiss", "ladder", "groups"
]
TieBreak = Literal["direct", "opponents", "sonneborn-berger", "wins", "games"]
"""direct: the score of the tied entrants against each other; opponents: the mean score of the
opponents.
"""
Positive = Annotated[int, Meta(ge=1)]
Moment = Annotated[
    str, Meta(pattern=r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$")
]
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
    """A document that cannot be used.

    The text names the line, if it is known, what is wrong and what would be right.
    """

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(f"line {line}: {problem}" if line else problem)
        self.problem, self.line = problem, line


class DocumentPart(
    Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename={"format_": "format", "class_": "class"},
):
    """A table of the document."""


class EntryRules(DocumentPart, frozen=True):
    """Which bots may enter."""

    kind: Literal["open", "list", "password", "class"] = "open"
    """open: any registered bot; list: those in `bots`; class: the bots that participants of
    `class` have uploaded until the start
    """
    bots: tuple[str, ...] = ()
    """the bots that may enter, if kind is list"""
    password: str = ""
    """the word that entrants must know, if kind is password"""
    class_: str = ""
    """the name of a class, if kind is class"""
    uploads: Positive | None = None
    """versions that a participant may upload after the contest was created"""
    runner_class: Annotated[str, Meta(pattern=r"^[\w.+-]{0,64}$")] = ""
    """the class of the runners that play the contest, if kind is class; empty: any"""
    per_owner: Positive | None = None
    """the largest number of bots of one owner"""
    most: Positive | None = None
    """the largest number of entrants"""
    late: bool = False
    """bots may enter after the start, where the format allows it"""
    versions: bool = False
    """a new version of a bot may replace the old one while the contest runs"""


class Penalties(DocumentPart, frozen=True):
    """What happens to a bot that does not play."""

    no_show: Literal["forfeit", "skip", "wait"] = "forfeit"
    """forfeit: the absent bot loses; skip: the match does not count; wait: for the organiser"""
    wait: Annotated[float, Meta(ge=0)] = 60.0
    """seconds to wait for an absent bot"""
    withdraw_after: Positive | None = None
    """no-shows and crashes after which a bot is withdrawn; none: never"""

    def withdraw(self, faults: int) -> bool:
        """Return True if a bot with this number of no-shows and crashes is to be withdrawn."""
        return self.withdraw_after is not None and faults >= self.withdraw_after


class ClockRules(DocumentPart, frozen=True):
    """The time control; without it, that of the game."""

    limit: Positive | None = None
    """milliseconds for a move"""
    control: str = ""
    """a chess clock in seconds, such as 40/60+0.6"""
    bank: Annotated[int, Meta(ge=0)] = 0
    """milliseconds for the whole match on top of the limits of moves"""


class OfflineEntrant(DocumentPart, frozen=True):
    """A bot of a contest that runs offline."""

    bot: str
    """house:NAME, FILE.py[:NAME], MODULE:NAME, or a program: 'view:...', 'cmd:...'"""
    name: str = ""
    owner: str = ""


class Grade(DocumentPart, frozen=True):
    """A grade, and what a bot must reach for it."""

    name: str
    against: str
    """the entrant of the document that it plays against"""
    score: Annotated[float, Meta(gt=0, le=1)]
    """what the 95 % interval of its share of the points is above"""


class ContestDocument(DocumentPart, frozen=True):
    """A contest, as its organiser describes it."""

    name: Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[^/\x00-\x1f]+$")]
    """as bots name it at login"""
    game: str
    title: str = ""
    owner: str = ""
    options: dict[str, Any] = {}
    players: Annotated[int, Meta(ge=2)] | None = None
    """seats at a table; by default two, or the fewest the game allows"""
    format_: FormatName = "round-robin"
    rounds: Positive | None = None
    """rounds of a Swiss; by default the logarithm of the entrants"""
    games: Positive | None = None
    """matches of a meeting; by default one for each seat"""
    rotate: bool = True
    """the seats rotate from match to match of a meeting"""
    best_of: Positive | None = None
    """knockout: matches of a meeting, which ends once it is decided"""
    groups: Annotated[int, Meta(ge=2)] | None = None
    """groups: how many; by default as many as leave twice a table's players in each"""
    bye: Annotated[float, Meta(ge=0, le=1, multiple_of=0.5)] = 1.0
    """Swiss: 1, 0.5 or 0: the share of a meeting"""
    pairing: Annotated[int, Meta(ge=1, le=PAIRING)] = PAIRING
    """Swiss: the version of the rules for pairs"""
    advance: Positive = 2
    """groups: entrants of each group that go on to the knockout"""
    champion: str = ""
    """gauntlet: the bot that meets all others; by default the first entrant"""
    seed: int = 1
    start: Moment | None = None
    end: Moment | None = None
    tie_breaks: tuple[TieBreak, ...] = ("direct", "opponents", "wins")
    webhook: str = ""
    """The URL that a server tells of the contest. It keeps it apart from the document."""
    entry: EntryRules = EntryRules()
    clock: ClockRules = ClockRules()
    penalties: Penalties = Penalties()
    entrants: tuple[OfflineEntrant, ...] = ()
    grades: tuple[Grade, ...] = ()
    """the best first; a bot gets the first that it reaches"""
    hidden: tuple[Literal["options", "entrants"], ...] = ()
    """what is shown only after the start"""

    @property
    def seats(self) -> int:
        """The number of players at a table."""
        return self.players or max(2, CATALOGUE[self.game].game.players[0])

    @property
    def terms(self) -> Terms:
        """The terms of the game, with the time control of the document."""
        terms, clock = CATALOGUE[self.game].terms, self.clock
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
    """Return the data of a document that was stored.

    Documents from before there were versions of the pairing have the first.
    """
    return {"pairing": 1, **data}


def read_document(text: str) -> ContestDocument:
    """Read TOML. Raise BadDocument with the line."""
    data = read_toml(text)
    try:
        return document_from(data)
    except BadDocument as bad:
        raise BadDocument(bad.problem, line_of(bad.problem, text)) from None


def read_toml(text: str) -> dict[str, Any]:
    """Return the keys of a document, with moments as text. Raise BadDocument with the line."""
    check_size(text)
    try:
        data: dict[str, Any] = _with_moments(tomllib.loads(text))
        return data
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        last = max(1, len(text.splitlines()))
        raise BadDocument(f"this is not TOML: {error}", int(found[1]) if found else last) from None
    except RecursionError:
        raise BadDocument(
            f"at most {MOST_DEPTH} tables and lists inside each other", fullest_line(text, "[{.")
        ) from None
    except ValueError:
        raise BadDocument(
            "a number has too many digits; 64 bits are allowed", fullest_line(text, "0123456789")
        ) from None


def document_from(data: Any) -> ContestDocument:
    """Check a document that was read from TOML or JSON. Raise BadDocument without a line."""
    if not isinstance(data, Mapping):
        raise BadDocument(
            f"the document is a table with keys such as name and game, not {type(data).__name__}; "
            "TOML goes to `toml`"
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
    """Raise BadDocument if the parser would take long.

    Its time grows with the square of the dots in a key.
    """
    if len(text) > LARGEST:
        raise BadDocument(f"the document has {len(text)} characters; at most {LARGEST} are allowed")
    for number, line in enumerate(text.splitlines(), 1):
        if line.count(".") > MOST_DOTS:
            raise BadDocument(
                f"the line has {line.count('.')} dots; at most {MOST_DOTS} are allowed, so break "
                "it",
                number,
            )


def check_document(document: ContestDocument) -> None:
    """Raise BadDocument if its parts do not fit together.

    The problem begins with the key, as in `rounds: ...`.
    """
    for problem in problems_of(document):
        raise BadDocument(problem)


def _with_moments(data: Any) -> Any:
    """Turn TOML's moments into text, as JSON has them."""
    if isinstance(data, dict):
        return {key: _with_moments(value) for key, value in data.items()}
    return data.isoformat() if hasattr(data, "isoformat") else data


# The text of a contest document: TOML that reads back as the same document.


def to_toml(document: ContestDocument) -> str:
    """Return the document without the keys that have their default values."""
    own = _changed(document)
    plain = {key: value for key, value in own.items() if not _is_table(value)}
    parts = [toml_pairs(plain)]
    for key, value in own.items():
        if isinstance(value, Mapping) and value:
            parts.append(f"[{key}]\n{toml_pairs(value)}")
        elif _is_table(value):
            parts += [f"[[{key}]]\n{toml_pairs(one)}" for one in value]
    return "\n".join(parts)


def _changed(part: Struct) -> dict[str, Any]:
    """Return the keys that differ from their defaults, ready for TOML."""
    found: dict[str, Any] = {}
    for field in fields(part):
        value = getattr(part, field.name)
        if field.default_factory is not msgspec.NODEFAULT and value == field.default_factory():
            continue
        if value != field.default:
            found[field.encode_name] = _converted(value)
    return found


def _converted(value: Any) -> Any:
    if isinstance(value, Struct):
        return _changed(value)
    return (
        [_converted(one) for one in value]
        if isinstance(value, tuple)
        else msgspec.to_builtins(value)
    )


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)
    )


def toml_pairs(table: Mapping[str, Any]) -> str:
    return "".join(
        f"{_key(key)} = {_toml_value(value)}\n" for key, value in table.items() if value is not None
    )


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml_value(key)


def _toml_value(value: Any) -> str:
    if isinstance(value, str):
        return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        inside = (
            f"{_key(key)} = {_toml_value(one)}" for key, one in value.items() if one is not None
        )
        return f"{{{', '.join(inside)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    return str(value).lower() if isinstance(value, bool) else repr(value)
