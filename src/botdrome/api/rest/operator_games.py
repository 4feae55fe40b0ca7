"""Games that the operator starts: runs of Battlecube, and rooms of boat games."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from botdrome.api.problems import Problem
from botdrome.api.rest.endpoint import RestRequest
from botdrome.api.rest.operator_session import json_body, private
from botdrome.server.operator.cube_runs import BadRun, CubeRun, CubeScores, RunState
from botdrome.server.operator.operator import Operator
from botdrome.server.rooms.boat_orders import BadOrder, shown
from botdrome.server.rooms.boat_room import BoatRoom
from botdrome.server.rooms.boat_settings import BadPlan, RoomPlan
from botdrome.server.rooms.boats import BadRoom

CubeSetupGiven = Annotated[
    dict[str, Any],
    Meta(
        description="As in NEW_GAME of socket.io: maxNumOfTicks, edgeLength, numOfTasksPerTick, "
        "speed, playerStartPositions."
    ),
]


class NewCubeRun(Struct, forbid_unknown_fields=True):
    setup: CubeSetupGiven
    players: Annotated[
        list[dict[str, Any]],
        Meta(
            description="name, and url: http://..., house:NAME, bot:NAME or connect:NAME; perhaps "
            "token."
        ),
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
    troubles: Annotated[
        dict[str, str],
        Meta(description="Why players were put out of a game: the last reason of each."),
    ]
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
    gathering: Annotated[
        list[BoatSailor] | None,
        Meta(description="Players that wait for a game; null: none can be joined."),
    ]
    gathers: Annotated[int | None, Meta(description="The number of that game.")]
    games: list[BoatGameShown]
    blacklist: BoatBlacklist


class BoatRoomShown(Struct):
    port: Annotated[int | None, Meta(description="Where players join.")]
    settings: Annotated[RoomPlan, Meta(description="As in a `[[boats]]` table of the settings.")]
    room: Annotated[
        BoatRoomState,
        Meta(description="The players that wait and play, as `botdrome host` shows them."),
    ]


class BoatRoomsShown(Struct):
    rooms: list[BoatRoomShown]


class BoatRoomChange(Struct, forbid_unknown_fields=True):
    title: str
    settings: dict[str, Any]


class BoatOrder(Struct, forbid_unknown_fields=True):
    title: str
    order: Annotated[
        dict[str, Any], Meta(description='As over /boats/host: {"do": "start"} and so on.')
    ]


class BoatOrderDone(Struct):
    done: str


# Battlecube.


@private
async def cuberuns(operator: Operator, _: RestRequest) -> CubeRunsShown:
    return CubeRunsShown([_run(run) for run in reversed(operator.runs.all)])


@private
async def cuberun(operator: Operator, request: RestRequest) -> CubeRunShown:
    return _run(_run_called(operator, request))


@private
async def startcube(operator: Operator, request: RestRequest) -> CubeRunShown:
    new: NewCubeRun = await json_body(request, NewCubeRun)
    try:
        return _run(await operator.start_run(new.setup, new.players, new.games))
    except BadRun as problem:
        raise Problem(str(problem)) from None


@private
async def changecube(operator: Operator, request: RestRequest) -> CubeRunShown:
    change: CubeRunChange = await json_body(request, CubeRunChange)
    run = _run_called(operator, request)
    try:
        await operator.change_run(run, change.setup, change.paused)
    except BadRun as problem:
        raise Problem(str(problem), 409) from None
    return _run(run)


@private
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
    return CubeRunShown(
        run.sid,
        run.state,
        run.setup,
        players,
        run.games,
        run.match,
        run.error,
        run.troubles,
        run.results,
    )


# Boat rooms.


@private
async def boatrooms(operator: Operator, _: RestRequest) -> BoatRoomsShown:
    return BoatRoomsShown([_room(operator, room) for room in operator.boats.rooms])


@private
async def openboats(operator: Operator, request: RestRequest) -> BoatRoomShown:
    values = await json_body(request, dict[str, object])
    try:
        return _room(operator, await operator.open_room(values))
    except (BadPlan, BadRoom) as problem:
        raise Problem(str(problem)) from None


@private
async def changeboats(operator: Operator, request: RestRequest) -> BoatRoomShown:
    change: BoatRoomChange = await json_body(request, BoatRoomChange)
    room = _room_called(operator, change.title)
    try:
        await operator.change_room(room, change.settings)
    except (BadPlan, BadRoom) as problem:
        raise Problem(str(problem), 409 if isinstance(problem, BadRoom) else 400) from None
    return _room(operator, room)


@private
async def orderboats(operator: Operator, request: RestRequest) -> BoatOrderDone:
    given: BoatOrder = await json_body(request, BoatOrder)
    try:
        return BoatOrderDone(await operator.order(_room_called(operator, given.title), given.order))
    except BadOrder as problem:
        raise Problem(str(problem), 409) from None


def _room_called(operator: Operator, title: str) -> BoatRoom:
    room = next((room for room in operator.boats.rooms if room.plan.title == title), None)
    if room is None:
        raise Problem(
            f"there is no room {title!r}; there are {', '.join(operator.boats.titles)}", 404
        )
    return room


def _room(operator: Operator, room: BoatRoom) -> BoatRoomShown:
    return BoatRoomShown(
        operator.boats.port_of(room), room.plan, msgspec.convert(shown(room), BoatRoomState)
    )
