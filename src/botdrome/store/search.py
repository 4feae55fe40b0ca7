"""Search: names and ids by the way they begin. Each look is a seek in an index, however much the store holds."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import Executable, Text, bindparam, null, select

from botdrome.store.tables import bots, matches, seats
from botdrome.store.texts import whole

Fetch = Callable[[Executable, Mapping[str, Any]], Awaitable[list[Sequence[Any]]]]

LAST = "\U0010ffff"
"""Sorted after all that a name may continue with."""
NEXT = "\x01"
"""What a name is continued with to get the next one that there can be."""

_first, _end = bindparam("first", type_=Text), bindparam("end", type_=Text)
_game = matches.c.game == bindparam("game", type_=Text)
_bot, _player = (bots.c.name >= _first) & (bots.c.name < _end), (seats.c.name >= _first) & (seats.c.name < _end)
BOT = select(bots.c.name, bots.c.name_whole).where(_bot).order_by(bots.c.name).limit(1)
PLAYER = select(seats.c.name, seats.c.name_whole).where(_player).order_by(seats.c.name).limit(1)
CONTEST = (
    select(matches.c.contest, matches.c.contest_whole)
    .where(_game, matches.c.contest.is_not(None), matches.c.contest >= _first, matches.c.contest < _end)
    .order_by(matches.c.contest)
    .limit(1)
)
MATCH = select(matches.c.id, null()).where(matches.c.id >= _first, matches.c.id < _end).order_by(matches.c.id).limit(1)


class Found(Struct, frozen=True):
    bots: list[str]
    players: list[str]
    """Names of players that are not registered, such as guests."""
    contests: list[tuple[str, str]]
    """With their games."""
    matches: list[str]


async def searched(fetch: Fetch, text: str, games: Iterable[str], most: int) -> Found:
    """What begins with the text, as written, in small or large letters or with a capital; `most` of each kind."""
    ways = list(dict.fromkeys((text, text.lower(), text.capitalize(), text.upper())))
    registered = await _names(fetch, BOT, ways, most)
    known = set(registered)
    players = [name for name in await _names(fetch, PLAYER, ways, 2 * most) if name not in known][:most]
    contests = [(game, name) for game in games for name in await _names(fetch, CONTEST, ways, most, game=game)][:most]
    return Found(registered, players, contests, await _names(fetch, MATCH, [text.lower()], most))


async def _names(fetch: Fetch, query: Executable, ways: Iterable[str], most: int, **values: str) -> list[str]:
    """Different ones: each look goes on after the name that was found last, whatever number of rows has that."""
    found: dict[str, None] = {}
    for way in ways:
        first, end = way, way + LAST
        while len(found) < most:
            rows = await fetch(query, {"first": first, "end": end, **values})
            if not rows:
                break
            found[whole(*rows[0])] = None
            first = rows[0][0] + NEXT
    return list(found)
