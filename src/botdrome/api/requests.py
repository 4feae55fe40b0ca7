"""Requests: their values, bodies and problems; responses that are sent piece by piece; and calls
from worker processes to the server.
"""

import json
from collections.abc import Mapping, Set
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from botdrome.api.live_tables import live_tables
from botdrome.catalogue import CATALOGUE
from botdrome.contest.document import BadDocument
from botdrome.games.reading import bounded
from botdrome.server.arena import Arena
from botdrome.server.calling.bot_connection import CallFailed
from botdrome.server.calling.webhooks import BadWebhook
from botdrome.server.failures import STORE_AWAY, STORE_DAMAGED
from botdrome.server.lobby.bans import BadBan
from botdrome.server.lobby.registry import BadName
from botdrome.server.lobby.tokens import NotOperator, TooMany
from botdrome.server.nodes.asking import NoAnswer
from botdrome.server.operator.cube_runs import BadRun, CannotChange
from botdrome.server.rooms.boat_settings import BadRoomSettings
from botdrome.server.rooms.boats import BadOrder, BadRoom
from botdrome.server.tables.audience import LiveTable
from botdrome.server.workers.jobs import JobFailed, PiecewiseResult, ServerCaller
from botdrome.server.workers.pool import Job, ServerCall
from botdrome.store.contest_journal import ContestRefusal, UnknownContest
from botdrome.store.entries import (
    BotEntry,
    BrokenMatch,
    ClassRefusal,
    Epoch,
    LooksAlike,
    NameTaken,
    Participant,
    RefusedUpload,
    StoreDamaged,
    StoreUnavailable,
    UnknownClass,
)
from botdrome.store.entries import iso as iso
from botdrome.store.store import StoreReader
from botdrome.wire.battlebot.conversation import LONGEST_CONTEST
from botdrome.wire.battlebot.messages import game_type
from botdrome.wire.conversation import can_be_shown
from botdrome.wire.upload import BadUpload, UploadLimits

STATUSES: dict[type[Exception], int] = {
    BadBan: 400, BadDocument: 400, BadName: 400, BadRoom: 400, BadRoomSettings: 400, BadRun: 400,
    NotOperator: 401, PermissionError: 403, UnknownClass: 404, UnknownContest: 404, BadOrder: 409,
    ClassRefusal: 409, ContestRefusal: 409, LooksAlike: 409, NameTaken: 409, CannotChange: 409,
    RefusedUpload: 409, BadUpload: 422, BadWebhook: 422, CallFailed: 422, TooMany: 429,
    BrokenMatch: 500, StoreDamaged: 500, JobFailed: 503, NoAnswer: 503, StoreUnavailable: 503,
}  # fmt: skip
"""Errors that are for the client, and their status. The first that fits counts."""
TAKEN = "Bot already registered with that name"
WORDS: dict[type[Exception], str] = {
    LooksAlike: TAKEN + ", or one that looks like it: {}",
    NameTaken: TAKEN,
    CallFailed: "The bot cannot be called: {}",
    StoreDamaged: STORE_DAMAGED,
    StoreUnavailable: STORE_AWAY,
}
"""The words for the client where they are not those of the error."""


class Problem(Exception):
    """An error for the client, with the status of HTTP."""

    def __init__(
        self, words: str, status: int = 400, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(words)
        self.words, self.status, self.headers = words, status, headers


def json_response(
    value: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    return Response(msgspec.json.encode(value), status, headers, "application/json")


def no_match(match_id: str) -> Problem:
    return Problem(f"there is no match {match_id!r}", 404)


def no_bot(name: str) -> Problem:
    return Problem(f"there is no bot {name!r}", 404)


def known_problem(error: BaseException | None) -> Problem | None:
    """Return the problem for the client; None: a server error, which is only logged."""
    if isinstance(error, Problem):
        return error
    for kind, status in STATUSES.items():
        if isinstance(error, kind):
            return Problem(WORDS.get(kind, "{}").format(error), status)
    return None


GAME_TYPES: dict[str, str] = {game_type(name): name for name in CATALOGUE}
"""NOUGHTS_AND_CROSSES is noughts-and-crosses."""


def game_called(name: str) -> str:
    """The name of a format, given it or its game type."""
    game = GAME_TYPES.get(name, name)
    if game not in CATALOGUE:
        raise Problem(f"there is no game {name!r}; there are {', '.join(CATALOGUE)}", 404)
    return game


LONGEST_LIST = 1000
SHORT_LIST = 50
LONGEST_OWNER = 200


def check_owner(owner: str) -> None:
    if len(owner) > LONGEST_OWNER:
        raise Problem(f"an owner has at most {LONGEST_OWNER} characters")
    if not can_be_shown(owner):
        raise Problem("an owner has printable characters only")


def check_contest(name: str) -> None:
    if not name or len(name) > LONGEST_CONTEST or "\0" in name:
        raise Problem(f"the name of a contest has 1 to {LONGEST_CONTEST} characters")


def storable(text: str) -> str:
    """A text that a database can look for."""
    if "\0" in text:
        raise Problem("a text must not contain the character NUL")
    return text


def original_limit(limit: int | None) -> int | None:
    """As in the original: no limit and 0 mean all (None), and the sign does not count."""
    return abs(limit or 0) or None


def original_offset(offset: int | None) -> int:
    if offset is not None and offset < 0:
        raise Problem(f"Skip value must be non-negative, but received: {offset}")
    return offset or 0


DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def javascript(epoch: Epoch) -> str:
    """`Sun Nov 15 2026 02:27:15 GMT+0000 (UTC)`, in any locale."""
    at = datetime.fromtimestamp(epoch / 1000, UTC)
    return f"{DAYS[at.weekday()]} {MONTHS[at.month - 1]} {at:%d %Y %H:%M:%S} GMT+0000 (UTC)"


def epoch(text: str) -> Epoch:
    """Read a date or a moment in ISO 8601, in UTC unless it has an offset.

    Raise ValueError if it is neither, or out of range.
    """
    at = datetime.fromisoformat(text)
    try:
        return int((at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
    except OverflowError as error:
        raise ValueError(str(error)) from None


LARGEST_BODY = 100 * 1024


async def body_of(request: Request, limit: int = LARGEST_BODY) -> bytes:
    too_large = Problem(f"the body of a request may have {limit} bytes at most", 413)
    if _announced(request) > limit:
        raise too_large
    body, whole = bytearray(), False
    while not whole:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        whole = not message.get("more_body", False)
        del message  # do not keep it beside its copy while waiting for the next
        if len(body) > limit:
            raise too_large
    return bytes(body)


async def whole_body(request: Request, limit: int = LARGEST_BODY) -> bytes:
    """The same. Raise Problem if the client has left."""
    try:
        return await body_of(request, limit)
    except ClientDisconnect:
        raise Problem("the rest of the body did not come") from None


def _announced(request: Request) -> int:
    length = request.headers.get("content-length", "")
    return int(length) if length.isdecimal() else 0


def lenient_json(text: str | bytes) -> Any:
    """Read JSON that may have raw line breaks inside its strings, as in the documentation of the
    original.
    """
    try:
        bounded(text.encode(errors="replace") if isinstance(text, str) else text)
        value = json.loads(text, strict=False, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair is no text
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def bearer(authorization: str) -> str | None:
    """The token in an `Authorization` header."""
    scheme, _, token = authorization.partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


PIECE = 32 << 10
"""Bytes that are sent at a time."""


class ResponseHead(Struct, frozen=True):
    length: int
    status: int
    media: str
    headers: Mapping[str, str] = {}


def in_pieces(
    body: bytes, status: int, media: str, headers: Mapping[str, str] = {}
) -> PiecewiseResult:
    """Return a response, as a job of a worker process returns it."""
    pieces = [body[start : start + PIECE] for start in range(0, len(body), PIECE)]
    return PiecewiseResult(ResponseHead(len(body), status, media, headers), pieces)


class PiecewiseResponse(Response):
    """Sends each piece of a worker's response when the client has read most of the one before."""

    def __init__(self, result: Job, status: int | None = None) -> None:
        head: ResponseHead = result.value
        self._result, self.status_code, self.background = result, status or head.status, None
        self.raw_headers = Headers(
            {"content-length": str(head.length), "content-type": head.media, **head.headers}
        ).raw

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await send(
                {
                    "type": "http.response.start",
                    "status": self.status_code,
                    "headers": self.raw_headers,
                }
            )
            if scope["method"] != "HEAD":
                async with aclosing(self._result.pieces()) as pieces:
                    async for piece in pieces:
                        await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            self._result.drop()


# Calls from worker processes to the server, for what a job cannot read from the store. These
# functions and the methods of `Arena` run in the server.

OPERATOR_NEEDED = "The operator's token is needed, in the header Authorization: Bearer TOKEN"


async def live(arena: Arena, game: str | None) -> tuple[list[LiveTable], int]:
    return live_tables(arena.tables, game)


async def contest_games(arena: Arena) -> int:
    """Games each way for every pair in a contest."""
    return arena.desk.settings.contest.games


async def count_duels(arena: Arena) -> None:
    """Wait until all stored boards of duel arena are counted."""
    await arena.duel.folded()


async def awaited(arena: Arena, contest: str) -> list[str]:
    """The bots of a contest that have matches to play and are not connected."""
    return [] if arena.contests is None else await arena.contests.awaited(contest)


async def participant_with(arena: Arena, token: str) -> Participant:
    """The participant of a class with this owner token."""
    return await arena.classes.participant(token)


async def order_contest(
    arena: Arena, token: object, name: str, verb: Struct, game: str = ""
) -> None:
    """For the operator alone."""
    if arena.contests is None or arena.keys is None or not isinstance(token, str):
        raise PermissionError(OPERATOR_NEEDED)
    try:
        await arena.keys.check(token)
    except NotOperator:
        raise PermissionError(OPERATOR_NEEDED) from None
    await arena.contests.order(name, verb, game)


async def check_upload(arena: Arena, bot: BotEntry) -> UploadLimits:
    return await arena.hosting.check_allowed(bot)


async def add_upload(arena: Arena, bot: BotEntry, version: str, digest: str, size: int) -> int:
    return await arena.hosting.add(bot, version, digest, size)


ORDERS: Set[ServerCall] = {
    add_upload, order_contest, Arena.register, Arena.move, Arena.rotate, Arena.revoke, Arena.enter,
    Arena.withdraw,
}  # fmt: skip
"""The calls that change something."""


class ReadContext:
    """The context of a read-only request in a worker process: its own store, and calls to the
    server.
    """

    def __init__(self, server: ServerCaller, store: StoreReader) -> None:
        self.call, self.store = server.call, store
