"""The operator over REST: session, clients, bans, contests, runs of Battlecube, boat rooms."""

from collections.abc import Callable
from time import time
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace
from starlette.responses import Response

from botdrome.api.requests import Problem, bearer, epoch, json_response
from botdrome.api.rest.contests import (
    HIDDEN,
    NO_CONTEST,
    DocumentedContest,
    contestdocument,
    given_document,
)
from botdrome.api.rest.endpoint import (
    PAGING,
    AnswerOf,
    Endpoints,
    GameName,
    H,
    ListPage,
    Moment,
    Parameter,
    RestRequest,
    copied,
    sorted_by,
)
from botdrome.contest.document import ContestDocument, to_toml
from botdrome.server.contests.contests import (
    ChangeContest,
    ContestAction,
    CreateContest,
    RerunOfContest,
    Withdrawal,
)
from botdrome.server.lobby.bans import Kind
from botdrome.server.lobby.tokens import SESSION, NotOperator
from botdrome.server.network.origins import plain_origin
from botdrome.server.operator.cube_runs import CubeRun, CubeScores, RunState
from botdrome.server.operator.operator import ClientLine, FindClients, Operator
from botdrome.server.rooms.boat_room import BoatRoom
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from botdrome.server.rooms.boats import shown


class SignIn(Struct, forbid_unknown_fields=True):
    token: str
    """The operator's token."""


class SignedIn(Struct):
    signedIn: bool  # noqa: N815
    seconds: float | None = None
    """Seconds that it lasts; null: the token came with the request."""


COOKIE = "botdrome_operator"
OURS = ("same-origin", "none")
"""The `Sec-Fetch-Site` of requests from our own pages.

Pages at other ports of this host send our cookies, too.
"""


async def seconds_left(operator: Operator, request: RestRequest) -> float | None:
    """Seconds left of the session; None: the token came with the request.

    Problem without either.
    """
    token = bearer(request.http.headers.get("authorization", ""))
    secret = request.http.cookies.get(COOKIE)
    try:
        if token is not None:
            await operator.keys.check(token)
            return None
        if not secret:
            raise NotOperator(
                "sign in with the operator's token, or send Authorization: Bearer TOKEN"
            )
        _check_page(operator, request)
        return await operator.keys.check_session(secret)
    except NotOperator as problem:
        raise Problem(str(problem), 401, {"www-authenticate": "Bearer"}) from None


def _check_page(operator: Operator, request: RestRequest) -> None:
    """Problem for pages of other origins, even for reads, since they could read the answer.

    Browsers name the origin in one of two headers. They send `Sec-Fetch-Site` only to hosts that
    they trust.
    """
    headers = request.http.headers
    origin = headers.get("origin")
    ours = origin is None or _is_own(operator, plain_origin(origin), headers.get("host", ""))
    if not ours or headers.get("sec-fetch-site", "none") not in OURS:
        raise Problem("only pages of this server may do this with the operator's session", 403)


def _is_own(operator: Operator, origin: str, host: str) -> bool:
    """Whether a page came from this server: by the name in the request, or by that
    behind a proxy.
    """
    scheme, _, place = origin.partition("://")
    at_host = place == host.lower() and (scheme == "https" or not operator.secure)
    return at_host or origin in operator.public_origins


WRONG = (401, "There is no session and no token, or it is not the operator's.")
GUESSING = (429, "Too many wrong tokens came from this address.")
LIMITS = (WRONG, (403, "The request comes from a page of another server."), GUESSING)
NO_RUN, NO_ROOM = (404, "There is no such run."), (404, "There is no such room.")
NOT_NOW = (409, "That cannot be done now.")

session_endpoint = Endpoints("/operator/session", json_only=True)
endpoint = Endpoints("/operator", *LIMITS, json_only=True, private=True, check=seconds_left)
"""For the operator alone."""


@session_endpoint(
    "POST", "", "Sign in as the operator: sets a cookie.", WRONG, GUESSING, answer=SignedIn
)
async def signin(operator: Operator, request: RestRequest, given: SignIn) -> Response:
    secret = await operator.keys.sign_in(given.token)
    await operator.audit.note("sign in")
    response = json_response(SignedIn(True, SESSION))
    _set_cookie(response, secret, SESSION, operator, request)
    return response


@session_endpoint("DELETE", "", "Sign out.", answer=SignedIn)
async def signout(operator: Operator, request: RestRequest) -> Response:
    secret = request.http.cookies.get(COOKIE)
    if secret:
        _check_page(operator, request)
        if await operator.keys.sign_out(secret):
            await operator.audit.note("sign out")
    response = json_response(SignedIn(False))
    _set_cookie(response, "", 0, operator, request)
    return response


@session_endpoint("GET", "", "How long the operator's session lasts.", *LIMITS, private=True)
async def session(operator: Operator, request: RestRequest) -> SignedIn:
    return SignedIn(True, await seconds_left(operator, request))


def _set_cookie(
    response: Response, secret: str, seconds: int, operator: Operator, request: RestRequest
) -> None:
    """The Origin of a page shows whether it came by TLS, perhaps through a proxy."""
    secure = operator.secure or request.http.headers.get("origin", "").startswith("https://")
    response.set_cookie(
        COOKIE, secret, max_age=seconds, path="/", secure=secure, httponly=True, samesite="strict"
    )


class ClientShown(Struct):
    node: str
    """The node that serves it; empty: the server is no node of a cluster."""
    number: int
    """Names this connection, as long as the server or its node runs."""
    protocol: str
    name: str
    game: GameName
    address: str
    """Where it comes from; for bots that the server calls, the host and port."""
    since: Moment
    received: int
    """Messages that it sent."""
    sent: int
    """Messages that it was sent."""
    answerMs: float | None  # noqa: N815
    """Milliseconds to an answer, on average."""
    match: str | None
    """The match that it plays."""


class ClientsShown(ListPage):
    clients: list[ClientShown]
    silent: list[str]
    """Nodes that did not answer: their clients are missing."""


class Removal(Struct, forbid_unknown_fields=True):
    name: str | None = None
    """All connections of this name are closed."""
    number: int | None = None
    """Only this connection is closed."""
    node: str = ""
    """The node of that number, as listed. In a cluster it is needed."""
    reason: str = ""


class RestRemoved(Struct):
    removed: int
    """How many connections were closed."""


class NewBan(Struct, forbid_unknown_fields=True):
    kind: Kind
    subject: str
    """A name; or an address or a network (192.0.2.0/24)."""
    reason: str = ""
    until: Moment | None = None
    """null: until it is lifted."""


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


class RestEndOfMatch(Struct, forbid_unknown_fields=True):
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


@endpoint(
    "GET",
    "/clients",
    "The connected clients of all protocols.",
    sorted_by(*ClientLine.__struct_fields__),
    Parameter("search", "Part of the name, address, protocol, game or node."),
    *PAGING,
)
async def clients(operator: Operator, request: RestRequest) -> ClientsShown:
    search, most = (request.text("search") or "").lower(), request.offset + request.limit
    found = await operator.find_clients(FindClients(search, *request.order("number"), most))
    page = [copied(ClientShown, one) for one in request.part(found.clients)]
    return ClientsShown(page, found.silent, **request.page(found.total))


@endpoint(
    "DELETE",
    "/clients",
    "Close connections. Their bots may come back.",
    (404, "There is no such client."),
)
async def removeclients(operator: Operator, _: RestRequest, wanted: Removal) -> RestRemoved:
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


@endpoint("GET", "/bans", "The bans in force, the newest first.", *PAGING)
async def bans(operator: Operator, request: RestRequest) -> BansShown:
    found = operator.bans.all
    page = [copied(BanShown, ban) for ban in request.part(found)]
    return BansShown(page, **request.page(len(found)))


@endpoint("POST", "/bans", "Ban a name or an address, and close its connections.", status=201)
async def ban(operator: Operator, _: RestRequest, new: NewBan) -> BanShown:
    until = _moment(new.until)
    return copied(BanShown, await operator.ban(new.kind, new.subject, new.reason, until))


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


@endpoint("DELETE", "/bans", "Lift a ban.", (404, "There is no such ban."))
async def liftban(operator: Operator, _: RestRequest, given: BannedSubject) -> BanShown:
    lifted = await operator.lift(given.kind, given.subject)
    if lifted is None:
        raise Problem(f"the {given.kind} {given.subject!r} is not banned", 404)
    return copied(BanShown, lifted)


@endpoint("POST", "/matches/{id}/end", "Abort a running match.", (404, "No such match runs."))
async def endmatch(operator: Operator, request: RestRequest, wanted: RestEndOfMatch) -> EndedMatch:
    match_id = request.path("id")
    if not await operator.end_match(match_id, wanted.reason):
        raise Problem(f"no match {match_id!r} runs", 404)
    return EndedMatch(match_id, True)


@endpoint("GET", "/audit", "The audit log, the latest entry first.", *PAGING)
async def audit(operator: Operator, request: RestRequest) -> AuditShown:
    lines, total = await operator.audit.newest(request.limit, request.offset)
    return AuditShown([copied(AuditEntry, line) for line in lines], **request.page(total))


def contest_order(method: str, path: str, summary: str) -> Callable[[H], H]:
    """Declare an endpoint that changes a contest and shows it."""
    return endpoint(method, path, summary, NO_CONTEST, NOT_NOW, answer=DocumentedContest)


class GivenDocument(Struct, forbid_unknown_fields=True):
    toml: str | None = None
    """The document in TOML."""
    document: dict[str, Any] | None = None
    """Or the same as JSON."""


class ContestText(Struct):
    name: str
    toml: str
    """The document in TOML, with its password."""


@endpoint(
    "GET", "/contests/{name:path}", "The document of a contest in TOML, to be changed.", NO_CONTEST
)
async def contesttext(operator: Operator, request: RestRequest) -> ContestText:
    document = await operator.contests.document(request.path("name"))
    return ContestText(document.name, to_toml(document))


@endpoint(
    "POST",
    "/contests",
    "Create a contest from its document.",
    NOT_NOW,
    answer=DocumentedContest,
    status=201,
)
async def createcontest(operator: Operator, _: RestRequest, given: GivenDocument) -> AnswerOf:
    document = _document(given)
    return await _ordered(operator, document.name, CreateContest(document), document.game)


@contest_order(
    "PUT", "/contests/{name:path}", "Change the document of a contest that has not started."
)
async def changecontest(operator: Operator, request: RestRequest, given: GivenDocument) -> AnswerOf:
    name = request.path("name")
    document = _document(given, await operator.contests.document(name))
    return await _ordered(operator, name, ChangeContest(document))


@contest_order(
    "POST", "/contest-actions/{name:path}", "Open, start, pause, resume or end a contest."
)
async def actoncontest(operator: Operator, request: RestRequest, given: ContestAction) -> AnswerOf:
    return await _ordered(operator, request.path("name"), given)


@contest_order(
    "POST",
    "/contest-withdrawals/{name:path}",
    "Take a bot out of a contest: it forfeits its open matches.",
)
async def withdrawbot(operator: Operator, request: RestRequest, given: Withdrawal) -> AnswerOf:
    return await _ordered(operator, request.path("name"), given)


@contest_order(
    "POST", "/contest-reruns/{name:path}", "Let matches of a paused contest be played again."
)
async def reruncontest(operator: Operator, request: RestRequest, given: RerunOfContest) -> AnswerOf:
    return await _ordered(operator, request.path("name"), given)


def _document(given: GivenDocument, before: ContestDocument | None = None) -> ContestDocument:
    """A password that is shown as `...` stays as it was."""
    document = given_document(given.toml, given.document)
    if before is None or document.entry.password != HIDDEN:
        return document
    return replace(document, entry=replace(document.entry, password=before.entry.password))


async def _ordered(operator: Operator, name: str, verb: Struct, game: str = "") -> AnswerOf:
    """Return the contest after an order."""
    await operator.contests.order(name, verb, game)
    return AnswerOf(contestdocument.__name__, {"name": name})


CubeSetupGiven = Annotated[
    dict[str, Any],
    Meta(
        description="As in NEW_GAME of socket.io: maxNumOfTicks, edgeLength, numOfTasksPerTick, "
        "speed, playerStartPositions."
    ),
]


class NewCubeRun(Struct, forbid_unknown_fields=True):
    setup: CubeSetupGiven
    players: list[dict[str, Any]]
    """name, and url: http://..., house:NAME, bot:NAME or connect:NAME; perhaps token."""
    games: int = 1
    """How many in a row."""


class CubeRunChange(Struct, forbid_unknown_fields=True):
    setup: CubeSetupGiven | None = None
    paused: bool | None = None


class CubeRunShown(Struct):
    id: str
    state: RunState
    setup: dict[str, Any]
    players: list[dict[str, Any]]
    games: int
    match: str | None
    """The game that runs."""
    error: str
    troubles: dict[str, str]
    """Why players were put out of a game: the last reason of each."""
    results: list[CubeScores]


class CubeRunsShown(Struct):
    runs: list[CubeRunShown]


class BoatSailor(Struct):
    name: str
    address: str


class BoatPlayer(BoatSailor):
    status: str
    toMove: bool  # noqa: N815
    score: int
    skips: int
    turns: int
    hits: int
    """On its own boats."""


class BoatGameShown(Struct):
    number: int
    match: str
    squares: int
    """Of one fleet."""
    players: list[BoatPlayer]


class BoatBlacklist(Struct):
    players: list[str]
    addresses: list[str]


class BoatRoomState(Struct):
    goal: int
    over: bool
    gathering: list[BoatSailor] | None
    """Players that wait for a game; null: none can be joined."""
    gathers: int | None
    """The number of that game."""
    games: list[BoatGameShown]
    blacklist: BoatBlacklist


class BoatRoomShown(Struct):
    port: int | None
    """Where players join."""
    settings: BoatRoomSettings
    """As in a `[[boats]]` table of the settings."""
    room: BoatRoomState
    """The players that wait and play, as `botdrome boats host` shows them."""


class BoatRoomsShown(Struct):
    rooms: list[BoatRoomShown]


class BoatRoomChange(Struct, forbid_unknown_fields=True):
    title: str
    settings: dict[str, Any]


class BoatOrder(Struct, forbid_unknown_fields=True):
    title: str
    order: dict[str, Any]
    """As over /boats/host: {"do": "start"} and so on."""


class BoatOrderDone(Struct):
    done: str


# Battlecube.


@endpoint("GET", "/cube", "Runs of Battlecube games, the newest first.")
async def cuberuns(operator: Operator, _: RestRequest) -> CubeRunsShown:
    return CubeRunsShown([_run(run) for run in reversed(operator.runs.all)])


@endpoint("GET", "/cube/{id}", "A run with the scores of its games.", NO_RUN)
async def cuberun(operator: Operator, request: RestRequest) -> CubeRunShown:
    return _run(_run_called(operator, request))


@endpoint("POST", "/cube", "Start one Battlecube game, or many in a row.", status=201)
async def startcube(operator: Operator, _: RestRequest, new: NewCubeRun) -> CubeRunShown:
    return _run(await operator.start_run(new.setup, new.players, new.games))


@endpoint("PUT", "/cube/{id}", "Change, pause or resume a run.", NO_RUN, NOT_NOW)
async def changecube(
    operator: Operator, request: RestRequest, change: CubeRunChange
) -> CubeRunShown:
    run = _run_called(operator, request)
    await operator.change_run(run, change.setup, change.paused)
    return _run(run)


@endpoint("DELETE", "/cube/{id}", "Stop a run.", NO_RUN)
async def stopcube(operator: Operator, request: RestRequest) -> CubeRunShown:
    run = _run_called(operator, request)
    await operator.stop_run(run)
    return _run(run)


def _run_called(operator: Operator, request: RestRequest) -> CubeRun:
    run = operator.runs[request.path("id")]
    if run is None:
        raise Problem(f"there is no run {request.path('id')!r}", 404)
    return run


def _run(run: CubeRun) -> CubeRunShown:
    players = [
        {key: value for key, value in player.items() if key != "token"} for player in run.players
    ]
    return copied(CubeRunShown, run, id=run.sid, players=players)


# Boat rooms.


@endpoint("GET", "/boats", "The rooms for boat games.")
async def boatrooms(operator: Operator, _: RestRequest) -> BoatRoomsShown:
    return BoatRoomsShown([_room(operator, room) for room in operator.boats.rooms])


@endpoint("POST", "/boats", "Open a room for boat games.", body=BoatRoomSettings, status=201)
async def openboats(operator: Operator, _: RestRequest, values: dict[str, object]) -> BoatRoomShown:
    return _room(operator, await operator.open_room(values))


@endpoint("PUT", "/boats", "Change a room while no player waits in it.", NO_ROOM, NOT_NOW)
async def changeboats(operator: Operator, _: RestRequest, change: BoatRoomChange) -> BoatRoomShown:
    room = _room_called(operator, change.title)
    await operator.change_room(room, change.settings)
    return _room(operator, room)


@endpoint("POST", "/boats/orders", "Give an order to a room, as its host does.", NO_ROOM, NOT_NOW)
async def orderboats(operator: Operator, _: RestRequest, given: BoatOrder) -> BoatOrderDone:
    return BoatOrderDone(await operator.order(_room_called(operator, given.title), given.order))


def _room_called(operator: Operator, title: str) -> BoatRoom:
    room = next((room for room in operator.boats.rooms if room.settings.title == title), None)
    if room is None:
        raise Problem(
            f"there is no room {title!r}; there are {', '.join(operator.boats.titles)}", 404
        )
    return room


def _room(operator: Operator, room: BoatRoom) -> BoatRoomShown:
    return BoatRoomShown(
        operator.boats.port_of(room), room.settings, msgspec.convert(shown(room), BoatRoomState)
    )


class NodeState(Struct):
    draining: bool


@endpoint(
    "PUT",
    "/nodes/{name}",
    "Have a node take no new matches, or take them again.",
    (404, "There is no such node."),
)
async def changenode(operator: Operator, request: RestRequest, wanted: NodeState) -> NodeState:
    name = request.path("name")
    if not await operator.drain_node(name, wanted.draining):
        raise Problem(f"there is no node {name!r}", 404)
    return wanted
