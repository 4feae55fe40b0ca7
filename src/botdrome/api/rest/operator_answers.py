"""Operator answers: what the operator's endpoints take and say, as JSON."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from botdrome.api.rest.answers import GameName, Moment
from botdrome.server.boats.plan import RoomPlan
from botdrome.server.lobby.bans import Kind
from botdrome.server.operator.cube_runs import CubeScores, RunState


class SignIn(Struct, forbid_unknown_fields=True):
    token: Annotated[str, Meta(description="The operator's token.")]


class SignedIn(Struct):
    signedIn: bool  # noqa: N815
    seconds: Annotated[float | None, Meta(description="Seconds that it lasts; null: the token came with the request.")] = None


class ClientShown(Struct):
    number: Annotated[int, Meta(description="Names this connection, as long as the server runs.")]
    protocol: str
    name: str
    game: GameName
    address: Annotated[str, Meta(description="Where it comes from; for bots that the server calls, the host and port.")]
    since: Moment
    received: Annotated[int, Meta(description="Messages that it sent.")]
    sent: Annotated[int, Meta(description="Messages that it was sent.")]
    answerMs: Annotated[float | None, Meta(description="Milliseconds to an answer, on average.")]  # noqa: N815
    match: Annotated[str | None, Meta(description="The match that it plays.")]


class ClientsShown(Struct):
    clients: list[ClientShown]
    total: int
    limit: int
    offset: int


class Removal(Struct, forbid_unknown_fields=True):
    name: Annotated[str | None, Meta(description="All connections of this name are closed.")] = None
    number: Annotated[int | None, Meta(description="Only this connection is closed.")] = None
    reason: str = ""


class Removed(Struct):
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


class BansShown(Struct):
    bans: list[BanShown]
    total: int
    limit: int
    offset: int


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


class AuditShown(Struct):
    entries: list[AuditEntry]
    total: int
    limit: int
    offset: int


CubeSetupGiven = Annotated[
    dict[str, Any],
    Meta(description="As in NEW_GAME of socket.io: maxNumOfTicks, edgeLength, numOfTasksPerTick, speed, playerStartPositions."),
]


class NewCubeRun(Struct, forbid_unknown_fields=True):
    setup: CubeSetupGiven
    players: Annotated[
        list[dict[str, Any]], Meta(description="name, and url: http://..., house:NAME, bot:NAME or connect:NAME; perhaps token.")
    ]
    games: Annotated[int, Meta(description="How many in a row.")] = 1


class CubeRunChange(Struct, forbid_unknown_fields=True):
    setup: CubeSetupGiven | None = None
    paused: bool | None = None


class CubeRunShown(Struct):
    id: str
    state: RunState
    setup: dict[str, Any]
    players: list[dict[str, Any]]
    games: int
    match: Annotated[str | None, Meta(description="The game that runs.")]
    error: str
    troubles: Annotated[dict[str, str], Meta(description="Why players were put out of a game: the last reason of each.")]
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
    hits: Annotated[int, Meta(description="On its own boats.")]


class BoatGameShown(Struct):
    number: int
    match: str
    squares: Annotated[int, Meta(description="Of one fleet.")]
    players: list[BoatPlayer]


class BoatBlacklist(Struct):
    players: list[str]
    addresses: list[str]


class BoatRoomState(Struct):
    goal: int
    over: bool
    gathering: Annotated[list[BoatSailor] | None, Meta(description="Those who wait for a game; null: none can be joined.")]
    gathers: Annotated[int | None, Meta(description="The number of that game.")]
    games: list[BoatGameShown]
    blacklist: BoatBlacklist


class BoatRoomShown(Struct):
    port: Annotated[int | None, Meta(description="Where players join.")]
    settings: Annotated[RoomPlan, Meta(description="As in a `[[boats]]` table of the settings.")]
    room: Annotated[BoatRoomState, Meta(description="Who waits and who plays, as `botdrome host` shows it.")]


class BoatRoomsShown(Struct):
    rooms: list[BoatRoomShown]


class BoatRoomChange(Struct, forbid_unknown_fields=True):
    title: str
    settings: dict[str, Any]


class BoatOrder(Struct, forbid_unknown_fields=True):
    title: str
    order: Annotated[dict[str, Any], Meta(description='As over /boats/host: {"do": "start"} and so on.')]


class BoatOrderDone(Struct):
    done: str
