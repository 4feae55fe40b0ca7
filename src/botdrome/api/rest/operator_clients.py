"""The operator's view of clients, bans and matches, and the audit log."""

from time import time
from typing import Annotated

from msgspec import Meta, Struct

from botdrome.api.arguments import epoch, iso
from botdrome.api.problems import Problem
from botdrome.api.rest.endpoint import GameName, ListPage, Moment, RestRequest
from botdrome.api.rest.operator_session import json_body, private
from botdrome.server.lobby.bans import BadBan, Ban, Kind
from botdrome.server.operator.client_list import ClientLine, FindClients
from botdrome.server.operator.operator import Operator


class ClientShown(Struct):
    node: Annotated[
        str, Meta(description="The node that serves it; empty: the server is no node of a cluster.")
    ]
    number: Annotated[
        int, Meta(description="Names this connection, as long as the server or its node runs.")
    ]
    protocol: str
    name: str
    game: GameName
    address: Annotated[
        str,
        Meta(description="Where it comes from; for bots that the server calls, the host and port."),
    ]
    since: Moment
    received: Annotated[int, Meta(description="Messages that it sent.")]
    sent: Annotated[int, Meta(description="Messages that it was sent.")]
    answerMs: Annotated[float | None, Meta(description="Milliseconds to an answer, on average.")]  # noqa: N815
    match: Annotated[str | None, Meta(description="The match that it plays.")]


class ClientsShown(ListPage):
    clients: list[ClientShown]
    silent: Annotated[
        list[str], Meta(description="Nodes that did not answer: their clients are missing.")
    ]


class Removal(Struct, forbid_unknown_fields=True):
    name: Annotated[str | None, Meta(description="All connections of this name are closed.")] = None
    number: Annotated[int | None, Meta(description="Only this connection is closed.")] = None
    node: Annotated[
        str, Meta(description="The node of that number, as listed. In a cluster it is needed.")
    ] = ""
    reason: str = ""


class RestRemoved(Struct):
    removed: Annotated[int, Meta(description="How many connections were closed.")]


class NewBan(Struct, forbid_unknown_fields=True):
    kind: Kind
    subject: Annotated[str, Meta(description="A name; or an address or a network (192.0.2.0/24).")]
    reason: str = ""
    until: Annotated[Moment | None, Meta(description="null: until it is lifted.")] = None


class BannedSubject(Struct, forbid_unknown_fields=True):
    kind: Kind
    subject: str


class BanShown(Struct):
    kind: Kind
    subject: str
    reason: str
    made: Moment
    until: Moment | None


class BansShown(ListPage):
    bans: list[BanShown]


class EndOfMatch(Struct, forbid_unknown_fields=True):
    reason: str = ""


class EndedMatch(Struct):
    id: str
    ended: bool


class AuditEntry(Struct):
    at: Moment
    who: str
    address: str
    action: str
    target: str
    detail: str


class AuditShown(ListPage):
    entries: list[AuditEntry]


@private
async def clients(operator: Operator, request: RestRequest) -> ClientsShown:
    search, (column, falling) = (request.text("search") or "").lower(), request.order("number")
    found = await operator.find_clients(
        FindClients(search, column, falling, request.offset + request.limit)
    )
    page = [_client(one) for one in request.part(found.clients)]
    return ClientsShown(page, found.silent, **request.page(found.total))


def _client(one: ClientLine) -> ClientShown:
    return ClientShown(
        one.node, one.number, one.protocol, one.name, one.game, one.address, iso(one.since),
        one.received, one.sent, one.answer, one.match,
    )  # fmt: skip


@private
async def removeclients(operator: Operator, request: RestRequest) -> RestRemoved:
    wanted: Removal = await json_body(request, Removal)
    if (wanted.name is None) == (wanted.number is None):
        raise Problem("say either name or number")
    removed = await operator.remove(wanted.name, wanted.number, wanted.node, wanted.reason)
    if not removed:
        raise Problem(
            "there is no such client; it may have left"
            + ("" if wanted.name else "; in a cluster, say its node"),
            404,
        )
    return RestRemoved(removed)


@private
async def bans(operator: Operator, request: RestRequest) -> BansShown:
    found = operator.bans.all
    return BansShown([_ban(ban) for ban in request.part(found)], **request.page(len(found)))


def _ban(ban: Ban) -> BanShown:
    return BanShown(
        ban.kind,
        ban.subject,
        ban.reason,
        iso(ban.made),
        None if ban.until is None else iso(ban.until),
    )


@private
async def ban(operator: Operator, request: RestRequest) -> BanShown:
    new: NewBan = await json_body(request, NewBan)
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
async def liftban(operator: Operator, request: RestRequest) -> BanShown:
    given: BannedSubject = await json_body(request, BannedSubject)
    try:
        lifted = await operator.lift(given.kind, given.subject)
    except BadBan as problem:
        raise Problem(str(problem)) from None
    if lifted is None:
        raise Problem(f"the {given.kind} {given.subject!r} is not banned", 404)
    return _ban(lifted)


@private
async def endmatch(operator: Operator, request: RestRequest) -> EndedMatch:
    wanted: EndOfMatch = await json_body(request, EndOfMatch)
    match_id = request.path("id")
    if not await operator.end_match(match_id, wanted.reason):
        raise Problem(f"no match {match_id!r} runs", 404)
    return EndedMatch(match_id, True)


@private
async def audit(operator: Operator, request: RestRequest) -> AuditShown:
    lines, total = await operator.audit.newest(request.limit, request.offset)
    shown = [
        AuditEntry(iso(one.at), one.who, one.address, one.action, one.target, one.detail)
        for one in lines
    ]
    return AuditShown(shown, **request.page(total))
