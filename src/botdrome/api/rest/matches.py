"""Matches and live tables over REST."""

from typing import Any

from botdrome.api.dates import iso
from botdrome.api.films import filmed as film_of
from botdrome.api.films import stored_film
from botdrome.api.games import game_called
from botdrome.api.live import live_tables
from botdrome.api.outcomes import first_view, native_state
from botdrome.api.problems import Problem, no_match
from botdrome.api.rest.answers import Live, Match, Matches, MatchInFull, Outcome, Seat, Table
from botdrome.api.rest.endpoint import Asked
from botdrome.api.rest.reach import Reach
from botdrome.server.arena import Arena, LiveTable
from botdrome.server.lobby.owners import is_bots
from botdrome.server.tables.flight_lines import written
from botdrome.store.store import MatchEntry, Status, Wanted
from botdrome.wire.battlebot.messages import game_type

STATUSES: dict[str, Status] = {"running": "running", "ended": "ended", "aborted": "aborted"}


async def matches(reach: Reach, asked: Asked) -> Matches:
    wanted = Wanted(
        game=_game(asked.text("game")),
        contest=asked.text("contest"),
        all_of=asked.texts("bot"),
        any_of=asked.texts("any_bot"),
        status=STATUSES.get(asked.text("status") or ""),
        winner=asked.text("winner"),
        since=asked.moment("since"),
        until=asked.moment("until"),
        oldest_first=asked.order("-started") == ("started", False),
        limit=asked.limit,
        offset=asked.offset,
    )
    found = await reach.store.matches(wanted)
    total = await reach.store.count(wanted)
    return Matches([Match(**_common(entry)) for entry in found], total, asked.limit, asked.offset)


def _game(name: str | None) -> str | None:
    return None if name is None else game_called(name)


async def match(reach: Reach, asked: Asked) -> MatchInFull:
    entry = await match_entry(reach, asked)
    view = entry.view if entry.status != "running" else await reach.present_view(entry.id)
    return MatchInFull(**_common(entry), options=entry.options, reason=entry.reason or None, view=view)


async def match_entry(reach: Reach, asked: Asked) -> MatchEntry:
    entry = await reach.store.match(asked.path("id"))
    if entry is None:
        raise no_match(asked.path("id"))
    return entry


def _common(entry: MatchEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "game": entry.game,
        "gameType": game_type(entry.game),
        "players": list(entry.players),
        "contest": entry.contest,
        "pace": entry.pace,
        "status": entry.status,
        "started": iso(entry.started),
        "ended": None if entry.ended is None else iso(entry.ended),
        "result": _outcome(entry),
        "seats": _seats(entry),
    }


def _outcome(entry: MatchEntry) -> Outcome | None:
    if entry.result is None:
        return None
    result = native_state(entry, entry.view or first_view(entry))["result"]
    return Outcome(result["victor"], result["reason"])


def _seats(entry: MatchEntry) -> list[Seat]:
    result = entry.result
    if result is None:
        return [Seat(seat, name) for seat, name in enumerate(entry.players)]
    lines = zip(entry.players, result.places, result.scores, result.causes, strict=True)
    return [Seat(seat, *line) for seat, line in enumerate(lines)]


async def record(reach: Reach, asked: Asked) -> bytes:
    entry = await match_entry(reach, asked)
    found = await reach.store.record(entry.id)
    if found is None:
        words = "runs still; its record comes when it is over" if entry.status == "running" else "left no record"
        raise Problem(f"match {entry.id} {words}", 404)
    return found


async def film(reach: Reach, asked: Asked) -> bytes:
    entry = await match_entry(reach, asked)
    if entry.status == "running":
        raise Problem(f"match {entry.id} is still running: watch it at /watch/{entry.id}; its film comes when it is over", 409)
    record = await reach.store.record(entry.id)
    if record is None:
        raise Problem(f"match {entry.id} left no record, so that there is no film of it", 404)
    return stored_film(entry, await owners_of(entry, reach), record)


async def owners_of(entry: MatchEntry, reach: Reach) -> list[str | None]:
    """Player by player, of those that are registered bots."""
    bots = [await reach.store.bot(name) for name in entry.players]
    return [bot.owner if bot and is_bots(entry, seat, bot) else None for seat, bot in enumerate(bots)]


async def filmed(_: Reach, asked: Asked) -> bytes:
    return film_of(asked.file)


async def flight(reach: Reach, asked: Asked) -> bytes:
    """Private: what a bot was sent and sent itself, with the verdicts."""
    token, seat = asked.token, asked.path("seat")
    entry = await match_entry(reach, asked)
    if seat >= len(entry.players):
        raise Problem(f"match {entry.id} has the seats 0 to {len(entry.players) - 1}", 404)
    if not await reach.owns(entry, seat, token):
        raise Problem(f"this is not the token of the bot at seat {seat}", 403)
    found = await reach.store.flight(entry.id, seat)
    if found is None:
        words = "runs still; its flight records come when it is over" if entry.status == "running" else "left no flight records"
        raise Problem(f"match {entry.id} {words}", 404)
    return written(found, entry.reason)


async def live(arena: Arena, asked: Asked) -> Live:
    tables, _ = live_tables(arena.tables, _game(asked.text("game")))
    return Live([_table(table) for table in tables], arena.tables.count())


def _table(table: LiveTable) -> Table:
    return Table(
        table.id, table.game, game_type(table.game), list(table.players), table.contest, iso(table.started), table.steps,
        table.spectators, table.pace,
    )  # fmt: skip
