"""The SQL statements that read, for all databases, and the choice of those for lists of matches.

`:name` stands for a bound value, and `IN :names` for a list of texts that is bound as one value.
Statements are put together from texts of this file only: values from outside are always bound.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from botdrome.store.entries import BotOrder, Status, Wanted
from botdrome.store.rows import Fetch, key
from botdrome.store.schema import COLUMNS, RELEASED, REPLACED

BOT = ", ".join((*COLUMNS["bots"], "hosted"))
NOTE = ", ".join(COLUMNS["notes"])
MATCH = ", ".join(f"matches.{name}" for name in COLUMNS["matches"][1:])
"""The columns of a match entry: all but the number."""
HAS_STATUS: dict[Status, str] = {
    "running": "matches.status = 'running'",
    "ended": "matches.status = 'ended'",
    "aborted": "matches.status = 'aborted'",
}
"""Literals, so that the partial indexes are used."""


NEXT = "\x01"
"""Appended to a name, gives the smallest greater name."""
PAGE = "LIMIT :limit OFFSET :offset"


def where(conditions: Mapping[str, bool]) -> str:
    """Return the clause with those of the conditions that are asked for."""
    asked = [condition for condition, wanted in conditions.items() if wanted]
    return f"WHERE {' AND '.join(asked)}" if asked else ""


def way(falling: bool) -> str:
    return "DESC" if falling else "ASC"


def count_if(condition: str) -> str:
    return f"sum(CASE WHEN {condition} THEN 1 ELSE 0 END)"


def in_place(table: str) -> str:
    """Return the end of an INSERT whose rows replace earlier ones with the same keys."""
    keys = REPLACED[table]
    others = COLUMNS[table][len(keys) :]
    fresh = ", ".join(f"{name} = excluded.{name}" for name in others)
    return f"ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {fresh}"


BOT_CALLED = f"SELECT {BOT} FROM bots WHERE name = :name"
BOTS_LIKE = f"SELECT {BOT} FROM bots WHERE likeness = :likeness ORDER BY registered, name"
NAMES_TAKEN = "SELECT name FROM bots WHERE name IN :names"
OWNED = "SELECT count(*) FROM bots WHERE owner = :owner AND name IN :names"
CLASSES_KEPT = "SELECT name FROM classes WHERE name IN :names"

NOTES = f"SELECT {NOTE} FROM notes WHERE book = :book ORDER BY name"
NOTES_FROM = (
    f"SELECT {NOTE} FROM notes WHERE book = :book AND name >= :first ORDER BY name LIMIT :limit"
)
NOTE_CALLED = f"SELECT {NOTE} FROM notes WHERE book = :book AND name = :name"
NOTES_CALLED = f"SELECT {NOTE} FROM notes WHERE book = :book AND name IN :names"
LATEST_NOTES = (
    f"SELECT {NOTE} FROM notes WHERE book = :book ORDER BY name DESC LIMIT :limit OFFSET :offset"
)
NOTES_COUNTED = "SELECT count(*) FROM notes WHERE book = :book"

KNOWN = "SELECT id, number, status, ended, result FROM matches WHERE id IN :ids"
RUNNING = f"SELECT count(*) FROM matches WHERE {HAS_STATUS['running']}"
LAST_NUMBER = "SELECT max(number) FROM matches"
_IS_ORPHAN = f"""{HAS_STATUS["running"]} AND (SELECT count(*) FROM nodes
    WHERE alive AND nodes.name || '.' || nodes.epoch = matches.node) = 0"""
"""A count, not `NOT EXISTS`: PostgreSQL would not ask that again about a row that another node has
just adopted, so that both nodes would own the match.
"""
ORPHANS = f"SELECT id FROM matches WHERE {_IS_ORPHAN} AND (node <> '' OR :single)"
ADOPT = f"""UPDATE matches SET node = :new_node, former = nullif(trim(coalesce(former, '') || ' ' ||
    CASE WHEN node IN ('{RELEASED}', :new_node) THEN '' ELSE node END), '')
    WHERE ({_IS_ORPHAN} OR {HAS_STATUS["running"]} AND node = :new_node) AND id IN :ids
    RETURNING {", ".join(COLUMNS["matches"][1:])}"""
"""A match that was released has the node already among the former ones. A match that the new node
owns is returned, too: it may have adopted the match without an answer of the store.
"""

ENTRY = f"SELECT {MATCH} FROM matches WHERE id = :id"
_FILES = f"""FROM records JOIN matches ON matches.number = records.number
    WHERE id = :id AND NOT {HAS_STATUS["running"]}"""
"""The record of a running match has the seed, so it must not be readable."""
RECORD = f"SELECT record {_FILES}"
FLIGHTS = f"SELECT flights {_FILES}"
EVALUATION = """SELECT data FROM evaluations JOIN matches ON matches.number = evaluations.number
    WHERE id = :id AND version = :version"""

CONTESTS = """SELECT contest, min(contest_whole) FROM matches
    WHERE game = :game AND contest IS NOT NULL GROUP BY contest
    ORDER BY min(started), min(number)"""
MEETINGS = """SELECT players, status, count(*) FROM matches
    WHERE game = :game AND contest = :contest AND status <> 'aborted' GROUP BY players, status"""
CONTEST_LINES = f"""SELECT name, min(name_whole), {count_if("place = 1 AND firsts = 1")},
    {count_if("place = 1 AND firsts > 1")}, {count_if("place > 1")}
    FROM (SELECT name, name_whole, place,
        {count_if("place = 1")} OVER (PARTITION BY seats.number) AS firsts
        FROM seats JOIN matches ON matches.number = seats.number
        WHERE game = :game AND contest = :contest AND {HAS_STATUS["ended"]}) AS lines
    GROUP BY name ORDER BY name"""
"""First place alone is a win, shared a draw, any other place a loss."""

BOTS_FROM = f"SELECT {BOT} FROM bots WHERE name >= :first ORDER BY name LIMIT :limit"
MATCHES_FROM = f"""SELECT matches.number, {MATCH} FROM matches
    WHERE number >= :first AND number <= :last ORDER BY number LIMIT :limit"""
FILES_BETWEEN = "SELECT number, record, flights FROM records WHERE number BETWEEN :first AND :last"

BOT_ORDERS: dict[BotOrder, str] = {
    "registered": "registered", "name": "name", "owner": "owner", "game": "game",
}  # fmt: skip


def bots_of(game: bool, owner: bool, order: BotOrder, falling: bool) -> str:
    return f"""SELECT {BOT} FROM bots {_bots_where(game, owner)}
        ORDER BY {BOT_ORDERS[order]} {way(falling)}, name {PAGE}"""


def bots_counted(game: bool, owner: bool) -> str:
    return f"SELECT count(*) FROM bots {_bots_where(game, owner)}"


def _bots_where(game: bool, owner: bool) -> str:
    return where({"game = :game": game, "owner = :owner": owner})


# Lists of matches. A page of a long list comes from an index on time, and costs no more than the
# page. For that, the query starts from the seats of a player with few seats, or from all matches if
# the players have many.

FARTHEST = 2**62
"""Limits and offsets above this count as this."""
MANY = 5_000
"""Seats are counted up to this number."""
COMPARED = 8
"""Players whose seats are compared, at most."""
_SEATS = f"""SELECT count(*) FROM
    (SELECT number FROM seats WHERE name IN :names LIMIT {MANY}) AS counted"""
_FIRST_SEAT = """seats.player = (SELECT min(same.player) FROM seats AS same
    WHERE same.number = seats.number AND same.name = seats.name)"""
"""Count a match once for a player that has two seats in it."""

Question = tuple[str, dict[str, Any]]


async def matches_wanted(wanted: Wanted, fetch: Fetch) -> Question:
    wanted = await _rarest_first(wanted, fetch)
    busy = len(wanted.any_of) > 1 and await _seats(wanted.any_of, fetch) >= MANY
    player = _one_player(wanted) is not None
    clock, falling = "seats" if player else "matches", way(not wanted.oldest_first)
    page = PAGE if wanted.limit is not None or wanted.offset else ""
    seats = "JOIN seats ON seats.number = matches.number" if player else ""
    conditions = {**_of_match(wanted), **_of_players(wanted, busy), _FIRST_SEAT: player}
    return (
        f"""SELECT {MATCH} FROM matches {seats} {where(conditions)}
        ORDER BY {clock}.started {falling}, {clock}.number {falling} {page}""",
        _values(wanted),
    )


async def matches_counted(wanted: Wanted, fetch: Fetch) -> Question:
    """Count seats alone if no condition concerns the match itself."""
    wanted = await _rarest_first(wanted, fetch)
    of_match, of_players = _of_match(wanted), _of_players(wanted, busy=False)
    source, counted = "matches", "*"
    if _one_player(wanted) is not None:
        source, counted = "seats", "DISTINCT seats.number"
        if any(of_match.values()):
            source += " JOIN matches ON matches.number = seats.number"
    return f"SELECT count({counted}) FROM {source} {where(of_match | of_players)}", _values(wanted)


async def _rarest_first(wanted: Wanted, fetch: Fetch) -> Wanted:
    if wanted.offset < 0 or (wanted.limit is not None and wanted.limit < 0):
        raise ValueError("limit and offset must not be negative")
    names = sorted(set(wanted.all_of))
    if not 1 < len(names) <= COMPARED:
        return wanted
    seats = {name: await _seats([name], fetch) for name in names}
    return replace(wanted, all_of=sorted(names, key=lambda name: seats[name]))


async def _seats(names: Sequence[str], fetch: Fetch) -> int:
    return int((await fetch(_SEATS, {"names": [key(name) for name in names]}))[0][0])


def _one_player(wanted: Wanted) -> str | None:
    """The player from whose seats the query starts; None: it starts from all matches."""
    if wanted.all_of:
        return wanted.all_of[0]
    return wanted.any_of[0] if len(wanted.any_of) == 1 else wanted.winner


def _of_match(wanted: Wanted) -> dict[str, bool]:
    """The conditions that concern the match itself, and whether each is asked for."""
    status = {HAS_STATUS[wanted.status]: True} if wanted.status else {}
    return {
        "matches.game = :game": wanted.game is not None,
        "matches.contest = :contest": wanted.contest is not None,
        **status,
    }


def _of_players(wanted: Wanted, busy: bool) -> dict[str, bool]:
    """The conditions on players and time. `busy`: the players of `any_of` have many seats."""
    player = _one_player(wanted) is not None
    table, any_of = "seats" if player else "matches", bool(wanted.any_of)
    some = len(wanted.any_of) > 1 or (any_of and bool(wanted.all_of))
    match = f"{table}.number"
    return {
        "seats.name = :player": player,
        f"""(SELECT count(DISTINCT others.name) FROM seats AS others
            WHERE others.number = {match} AND others.name IN :all_of) = :how_many""": (
            len(wanted.all_of) > 1
        ),
        f"""EXISTS (SELECT 1 FROM seats AS one
            WHERE one.number = {match} AND one.name IN :any_of)""": some and busy,
        f"{match} IN (SELECT number FROM seats WHERE name IN :any_of)": some and not busy,
        f"""EXISTS (SELECT 1 FROM seats AS winner WHERE winner.number = {match}
            AND winner.place = 1 AND winner.name = :winner)
            AND (SELECT count(*) FROM seats AS firsts
            WHERE firsts.number = {match} AND firsts.place = 1) = 1""": wanted.winner is not None,
        f"{table}.started >= :since": wanted.since is not None,
        f"{table}.started < :until": wanted.until is not None,
    }


def _values(wanted: Wanted) -> dict[str, Any]:
    return {
        "game": key(wanted.game or ""),
        "contest": key(wanted.contest or ""),
        "player": key(_one_player(wanted) or ""),
        "all_of": [key(name) for name in wanted.all_of],
        "how_many": len(set(wanted.all_of)),
        "any_of": [key(name) for name in wanted.any_of],
        "winner": key(wanted.winner or ""),
        "since": wanted.since or 0,
        "until": wanted.until or 0,
        "limit": FARTHEST if wanted.limit is None else min(wanted.limit, FARTHEST),
        "offset": min(wanted.offset, FARTHEST),
    }
