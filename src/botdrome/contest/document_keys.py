"""The keys of a contest document: for each, what it takes and a correct example. Errors and the docs use this table."""

import re
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

KEYS: dict[str, tuple[str, str]] = {
    "name": ("1 to 64 characters without `/`", 'name = "autumn-cup"'),
    "game": ("the name of a game", 'game = "gomoku"'),
    "title": ("text", 'title = "Autumn Cup 2026"'),
    "owner": ("text", 'owner = "alice"'),
    "options": ("a table", "options = {size = 19}"),
    "players": ("a whole number of at least 2", "players = 2"),
    "format": ("round-robin, gauntlet, knockout, double-elimination, swiss, ladder or groups", 'format = "swiss"'),
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
    "tie_breaks": ("a list of direct, opponents, sonneborn-berger, wins and games", 'tie_breaks = ["direct", "wins"]'),
    "entry": ("a table", 'entry = {kind = "open"}'),
    "entry.kind": ("open, list or password", 'kind = "open"'),
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
    "entrants": ("tables", 'entrants = [{bot = "house:random"}]'),
    "entrants.bot": ("a bot", 'bot = "house:random"'),
    "entrants.name": ("text", 'name = "alpha"'),
    "entrants.owner": ("text", 'owner = "alice"'),
}


MOST_DEPTH = 8
"""Tables and lists inside each other."""


def value_problems(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the values that no key takes: tables that are too deep, and numbers of more than 64 bits or without an end."""
    rest: list[tuple[str, Any, int]] = [("", data, 0)]
    while rest:
        path, value, depth = rest.pop()
        if isinstance(value, Mapping | list | tuple) and depth > MOST_DEPTH:
            yield f"{path}: at most {MOST_DEPTH} tables and lists inside each other"
        elif isinstance(value, Mapping | list | tuple):
            named = isinstance(value, Mapping)
            inside = value.items() if isinstance(value, Mapping) else enumerate(value)
            rest += ((f"{path}.{key}".removeprefix(".") if named else f"{path}[{key}]", one, depth + 1) for key, one in inside)
        elif isinstance(value, float) and not isfinite(value):
            yield f"{path}: a finite number, not {value}"
        elif isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            yield f"{path}: a whole number of at most 64 bits, not of {value.bit_length()}"


def fullest_line(text: str, marks: str) -> int:
    """Return the line with most of these characters."""
    lines = text.splitlines()
    return 1 + max(range(len(lines)), key=lambda index: sum(map(lines[index].count, marks)))


def plainly(message: str, data: Mapping[str, Any]) -> str:
    """Return a message of msgspec as `key: what it takes, not the value; for example ...`."""
    words, _, place = message.partition(" - at ")
    path = place.strip("`").removeprefix("$").removeprefix(".")
    field = re.search(r"(unknown|missing required) field `(.*)`", words)
    if field is None:
        takes, example = KEYS[_row(path)]
        return f"{path}: {takes}, not {_value(path, data)!r}; for example {example}"
    key = f"{path}.{field[2]}".removeprefix(".")
    if field[1] == "unknown":
        table = _row(path)
        known = [name.rpartition(".")[2] for name in KEYS if name.rpartition(".")[0] == table]
        return f"{key}: there is no such key; there are {', '.join(known)}"
    return f"{key}: this key is missing; for example {KEYS[_row(key)][1]}"


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
