"""Games that the operator starts: runs of Battlecube, and rooms of boat games."""

import msgspec

from botdrome.api.problems import Problem
from botdrome.api.rest.endpoint import Asked
from botdrome.api.rest.operator_answers import (
    BoatOrder,
    BoatOrderDone,
    BoatRoomChange,
    BoatRoomShown,
    BoatRoomsShown,
    BoatRoomState,
    CubeRunChange,
    CubeRunShown,
    CubeRunsShown,
    NewCubeRun,
)
from botdrome.api.rest.operator_session import json_body, private
from botdrome.server.boats.harbour import BadRoom
from botdrome.server.boats.orders import BadOrder
from botdrome.server.boats.plan import BadPlan
from botdrome.server.boats.room import Room
from botdrome.server.boats.screen import shown
from botdrome.server.operator.cube_runs import BadRun, CubeRun
from botdrome.server.operator.operator import Operator

# Battlecube.


@private
async def cuberuns(operator: Operator, _: Asked) -> CubeRunsShown:
    return CubeRunsShown([_run(run) for run in reversed(operator.runs.all)])


@private
async def cuberun(operator: Operator, asked: Asked) -> CubeRunShown:
    return _run(_run_called(operator, asked))


@private
async def startcube(operator: Operator, asked: Asked) -> CubeRunShown:
    new: NewCubeRun = await json_body(asked, NewCubeRun)
    try:
        return _run(await operator.start_run(new.setup, new.players, new.games))
    except BadRun as problem:
        raise Problem(str(problem)) from None


@private
async def changecube(operator: Operator, asked: Asked) -> CubeRunShown:
    change: CubeRunChange = await json_body(asked, CubeRunChange)
    run = _run_called(operator, asked)
    try:
        await operator.change_run(run, change.setup, change.paused)
    except BadRun as problem:
        raise Problem(str(problem), 409) from None
    return _run(run)


@private
async def stopcube(operator: Operator, asked: Asked) -> CubeRunShown:
    run = _run_called(operator, asked)
    await operator.stop_run(run)
    return _run(run)


def _run_called(operator: Operator, asked: Asked) -> CubeRun:
    run = operator.runs[asked.path("id")]
    if run is None:
        raise Problem(f"there is no run {asked.path('id')!r}", 404)
    return run


def _run(run: CubeRun) -> CubeRunShown:
    players = [{key: value for key, value in player.items() if key != "token"} for player in run.players]
    return CubeRunShown(run.sid, run.state, run.setup, players, run.games, run.match, run.error, run.troubles, run.results)


# Boat rooms.


@private
async def boatrooms(operator: Operator, _: Asked) -> BoatRoomsShown:
    return BoatRoomsShown([_room(operator, room) for room in operator.boats.rooms])


@private
async def openboats(operator: Operator, asked: Asked) -> BoatRoomShown:
    values = await json_body(asked, dict[str, object])
    try:
        return _room(operator, await operator.open_room(values))
    except (BadPlan, BadRoom) as problem:
        raise Problem(str(problem)) from None


@private
async def changeboats(operator: Operator, asked: Asked) -> BoatRoomShown:
    change: BoatRoomChange = await json_body(asked, BoatRoomChange)
    room = _room_called(operator, change.title)
    try:
        await operator.change_room(room, change.settings)
    except (BadPlan, BadRoom) as problem:
        raise Problem(str(problem), 409 if isinstance(problem, BadRoom) else 400) from None
    return _room(operator, room)


@private
async def orderboats(operator: Operator, asked: Asked) -> BoatOrderDone:
    given: BoatOrder = await json_body(asked, BoatOrder)
    try:
        return BoatOrderDone(await operator.order(_room_called(operator, given.title), given.order))
    except BadOrder as problem:
        raise Problem(str(problem), 409) from None


def _room_called(operator: Operator, title: str) -> Room:
    room = next((room for room in operator.boats.rooms if room.plan.title == title), None)
    if room is None:
        raise Problem(f"there is no room {title!r}; there are {', '.join(operator.boats.titles)}", 404)
    return room


def _room(operator: Operator, room: Room) -> BoatRoomShown:
    return BoatRoomShown(operator.boats.port_of(room), room.plan, msgspec.convert(shown(room), BoatRoomState))
