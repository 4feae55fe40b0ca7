"""Checks of a contest document: do its parts fit together?"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING

from botdrome.formats import FORMATS
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption
from botdrome.games.options import with_options
from botdrome.match.terms import BadTimeControl, read_time_control

if TYPE_CHECKING:
    from botdrome.contest.document import ContestDocument

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
LARGEST_VALUES = {"rounds": 10_000, "penalties.wait": 604_800, "clock.limit": 604_800_000, "clock.bank": 604_800_000}
"""The largest values of numbers: a week of waiting or thinking, in the unit of the key."""
CLOSED = ("knockout", "double-elimination", "groups")
"""The formats that take no entrants after the start."""


def problems_of(document: "ContestDocument") -> Iterator[str]:
    """Yield what is wrong, the most basic first. Each problem begins with the key."""
    row = FORMATS.get(document.game)
    if row is None:
        yield f"game: there is no game {document.game!r}; there are {', '.join(FORMATS)}"
        return
    players = row.game.players
    if document.seats not in players:
        allowed = f"{players[0]}" if len(players) == 1 else f"{max(2, players[0])} to {players[-1]}"
        yield f"players: {document.game} is played by {allowed}, not {document.seats}; for example players = {max(2, players[0])}"
        return
    try:
        with_options(row.game, document.options).start(document.seats, Chance(document.seed))
    except BadOption as problem:
        yield f"options: {problem}"
    yield from _large_values(document)
    yield from _format_problems(document)
    yield from _entry_problems(document)
    yield from _clock_problems(document)
    yield from _moment_problems(document)
    yield from _entrant_problems(document)


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
            yield f'{key}: this belongs to {others}, not to {format_}; leave it out, or use format = "{formats[0]}"'
    for key, matches in (("games", document.games), ("best_of", document.best_of)):
        if (matches or 0) > MOST_MATCHES:
            yield f"{key}: a meeting has at most {MOST_MATCHES} matches, not {matches}; for example {key} = 5"
    if document.best_of is not None:
        yield from _series_problems(document, document.best_of)
    if format_ == "double-elimination" and document.seats > 2:
        yield f'format: double-elimination is played in pairs, not at tables of {document.seats}; use format = "knockout"'
    yield from (f"tie_breaks: {name!r} is named twice; once is enough" for name in _twice(document.tie_breaks))


def _series_problems(document: "ContestDocument", best_of: int) -> Iterator[str]:
    if best_of % 2 == 0:
        yield f"best_of: an odd number, not {best_of}; for example best_of = {best_of + 1}"
    if document.seats > 2:
        yield f"best_of: this is for pairs, not for tables of {document.seats}; use games, for example games = {document.seats}"
    if document.games is not None and document.format_ != "groups":
        yield f"games: best_of = {best_of} decides how many matches are played; leave games out"


def _entry_problems(document: "ContestDocument") -> Iterator[str]:
    entry = document.entry
    if entry.kind == "list" and not entry.bots:
        yield 'entry.bots: kind = "list" needs the names of the bots; for example bots = ["alpha", "beta"]'
    if entry.kind != "list" and entry.bots:
        yield f'entry.bots: kind = "{entry.kind}" has no list of bots; leave it out, or use kind = "list"'
    if entry.kind == "password" and not entry.password:
        yield 'entry.password: kind = "password" needs a password; for example password = "autumn leaves"'
    if entry.kind != "password" and entry.password:
        yield f'entry.password: kind = "{entry.kind}" has no password; leave it out, or use kind = "password"'
    if entry.late and document.format_ in CLOSED:
        yield f"entry.late: {document.format_} takes no entrants after the start; round-robin, gauntlet, swiss and ladder do"
    yield from (f"entry.bots: {name!r} is named twice; once is enough" for name in _twice(entry.bots))


def _clock_problems(document: "ContestDocument") -> Iterator[str]:
    clock = document.clock
    if (clock.control or clock.bank) and FORMATS[document.game].terms.pace.beat:
        key = "control" if clock.control else "bank"
        yield f"clock.{key}: {document.game} is played in ticks of fixed length; use limit, for example limit = 500"
    if clock.control:
        try:
            read_time_control(clock.control)
        except BadTimeControl as problem:
            yield f"clock.control: {problem}"
        if clock.limit or clock.bank:
            yield f"clock.{'limit' if clock.limit else 'bank'}: control = {clock.control!r} says everything; leave this out"


def _moment_problems(document: "ContestDocument") -> Iterator[str]:
    moments = {"start": document.start, "end": document.end}
    seconds = {key: _seconds(moment) for key, moment in moments.items() if moment}
    for key, value in seconds.items():
        if value is None:
            yield f"{key}: there is no moment {moments[key]!r}; for example {key} = 2026-11-20T14:00:00Z"
    start, end = seconds.get("start"), seconds.get("end")
    if start is not None and end is not None and end <= start:
        yield f"end: {document.end} is not after the start, {document.start}; choose a later end"


def _seconds(moment: str) -> float | None:
    """Return the seconds from a fixed moment; None if the calendar has no such moment."""
    year, month, day, hour, minute = (int(part) for part in re.findall(r"\d+", moment)[:5])
    found = re.search(r":(\d\d(?:\.\d+)?)(?:Z|[+-])", moment[16:])
    seconds = float(found[1]) if found else 0.0
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = (31, 28 + leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if not (1 <= month <= 12 and 1 <= day <= lengths[month - 1] and hour < 24 and minute < 60 and seconds < 60):
        return None
    before = year - 1
    days = 365 * before + before // 4 - before // 100 + before // 400 + sum(lengths[: month - 1]) + day
    zone = re.search(r"([+-])(\d\d):(\d\d)$", moment)
    offset = (1 if zone[1] == "+" else -1) * (60 * int(zone[2]) + int(zone[3])) if zone else 0
    return ((days * 24 + hour) * 60 + minute - offset) * 60 + seconds


def _entrant_problems(document: "ContestDocument") -> Iterator[str]:
    names = [entrant.name or entrant.bot for entrant in document.entrants]
    for name in _twice(names):
        last = len(names) - 1 - names[::-1].index(name)
        yield f"entrants[{last}].name: two entrants are called {name!r}; give this one a name of its own, such as name = 'second'"


def _twice(names: Iterable[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]
