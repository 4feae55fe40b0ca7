"""What the operator sees and does: clients, bans, matches and the audit log."""

from collections.abc import Callable
from operator import attrgetter, methodcaller
from time import time
from typing import Any

from botdrome.api.dates import epoch, iso
from botdrome.api.problems import Problem
from botdrome.api.rest.endpoint import Asked
from botdrome.api.rest.operator_answers import (
    AuditEntry,
    AuditShown,
    BannedSubject,
    BanShown,
    BansShown,
    ClientShown,
    ClientsShown,
    EndedMatch,
    EndOfMatch,
    NewBan,
    Removal,
    Removed,
)
from botdrome.api.rest.operator_session import json_body, private
from botdrome.server.lobby.bans import BadBan, Ban
from botdrome.server.lobby.clients import ConnectedClient
from botdrome.server.operator.operator import Operator

SORTS: dict[str, Callable[[ConnectedClient], Any]] = {
    "number": attrgetter("number"),
    "protocol": attrgetter("protocol"),
    "name": attrgetter("name"),
    "game": attrgetter("game"),
    "address": attrgetter("address"),
    "since": attrgetter("since"),
    "received": attrgetter("traffic.received"),
    "sent": attrgetter("traffic.sent"),
    "answerMs": attrgetter("traffic.answer_time"),
    "match": methodcaller("match"),
}


@private
async def clients(operator: Operator, asked: Asked) -> ClientsShown:
    """There may be many thousands: only those of the page are looked at closely."""
    found = operator.clients
    if words := (asked.text("search") or "").lower():
        found = [one for one in found if words in f"{one.name}\n{one.address}\n{one.protocol}\n{one.game}".lower()]
    column, falling = asked.order("number")
    value = SORTS[column]
    known = sorted([one for one in found if value(one) is not None], key=value, reverse=falling)
    ordered = known + [one for one in found if value(one) is None]
    page = [_client(one) for one in ordered[asked.offset : asked.offset + asked.limit]]
    return ClientsShown(page, len(found), asked.limit, asked.offset)


def _client(client: ConnectedClient) -> ClientShown:
    traffic, answer = client.traffic, client.traffic.answer_time
    milliseconds = None if answer is None else round(answer * 1000, 1)
    return ClientShown(
        client.number, client.protocol, client.name, client.game, client.address, iso(client.since), traffic.received,
        traffic.sent, milliseconds, client.match(),
    )  # fmt: skip


@private
async def removeclients(operator: Operator, asked: Asked) -> Removed:
    wanted: Removal = await json_body(asked, Removal)
    if (wanted.name is None) == (wanted.number is None):
        raise Problem("say either name or number")
    removed = await operator.remove(wanted.name, wanted.number, wanted.reason)
    if not removed:
        raise Problem("there is no such client; it may have left", 404)
    return Removed(removed)


@private
async def bans(operator: Operator, asked: Asked) -> BansShown:
    found = operator.bans.all
    page = found[asked.offset : asked.offset + asked.limit]
    return BansShown([_ban(ban) for ban in page], len(found), asked.limit, asked.offset)


def _ban(ban: Ban) -> BanShown:
    return BanShown(ban.kind, ban.subject, ban.reason, iso(ban.made), None if ban.until is None else iso(ban.until))


@private
async def ban(operator: Operator, asked: Asked) -> BanShown:
    new: NewBan = await json_body(asked, NewBan)
    try:
        return _ban(await operator.ban(new.kind, new.subject, new.reason, _moment(new.until)))
    except BadBan as problem:
        raise Problem(str(problem)) from None


def _moment(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        moment = epoch(text)
    except ValueError:
        raise Problem(f"until is a moment like 2026-12-31T23:59:00Z, not {text!r}") from None
    if moment <= time() * 1000:
        raise Problem(f"until is in the past: {text}")
    return moment


@private
async def liftban(operator: Operator, asked: Asked) -> BanShown:
    given: BannedSubject = await json_body(asked, BannedSubject)
    try:
        lifted = await operator.lift(given.kind, given.subject)
    except BadBan as problem:
        raise Problem(str(problem)) from None
    if lifted is None:
        raise Problem(f"the {given.kind} {given.subject!r} is not banned", 404)
    return _ban(lifted)


@private
async def endmatch(operator: Operator, asked: Asked) -> EndedMatch:
    wanted: EndOfMatch = await json_body(asked, EndOfMatch)
    match_id = asked.path("id")
    if not await operator.end_match(match_id, wanted.reason):
        raise Problem(f"no match {match_id!r} runs", 404)
    return EndedMatch(match_id, True)


@private
async def audit(operator: Operator, asked: Asked) -> AuditShown:
    lines, total = await operator.audit.newest(asked.limit, asked.offset)
    shown = [AuditEntry(iso(one.at), one.who, one.address, one.action, one.target, one.detail) for one in lines]
    return AuditShown(shown, total, asked.limit, asked.offset)
