"""Classes over REST: what organisers do with them, and what participants do."""

from collections import defaultdict
from collections.abc import Iterable
from io import BytesIO
from typing import TypeVar
from zipfile import ZipFile

from msgspec import Struct

from botdrome.api.requests import Problem, ReadContext, participant_with
from botdrome.api.rest.bots import RestBot, shown
from botdrome.api.rest.contests import as_csv, progress_called
from botdrome.api.rest.endpoint import (
    CSV,
    PAGING,
    AnswerOf,
    Endpoints,
    GameName,
    ListPage,
    Moment,
    RestRequest,
    copied,
)
from botdrome.api.rest.operator import LIMITS, NOT_NOW, seconds_left
from botdrome.contest.grades import grade_columns, grade_lines
from botdrome.contest.progress import ContestProgress
from botdrome.server.arena import Arena
from botdrome.server.lobby.classes import AnyClassOrder, Hours, code_of
from botdrome.server.lobby.clients import is_bots
from botdrome.server.operator.operator import Operator
from botdrome.store.classes import DELETED, owner_in
from botdrome.store.entries import AT, BotEntry, ClassEntry, MatchEntry, Wanted
from botdrome.store.store import StoreReader

endpoint = Endpoints()
organising = Endpoints("/operator", *LIMITS, json_only=True, private=True, check=seconds_left)
NO_CLASS = (404, "There is no such class.")
LATEST = 30
"""Matches that a class or a participant shows."""


class NewClass(Struct, forbid_unknown_fields=True):
    name: str
    hours: Hours = None


class ListedClass(Struct):
    name: str
    code: str
    """The join code."""
    expires: Moment
    """When the join code expires."""
    created: Moment
    closed: Moment | None
    """Since when nobody can join or register bots; null: it is open."""


class CountedClass(ListedClass):
    participants: int


class ClassList(ListPage):
    classes: list[CountedClass]


class ClassMember(Struct):
    name: str
    joined: Moment
    bots: list[str]
    uploaded: list[str]
    """Those of its bots that have an accepted version."""


class ClassPlayer(Struct):
    bot: str
    """`deleted`: its owner was removed from the class."""
    participant: str | None
    """Its owner in the class; null: it has none there."""
    place: int | None


class ClassResult(Struct):
    id: str
    game: GameName
    status: str
    """running, ended or aborted."""
    started: Moment
    ended: Moment | None
    players: list[ClassPlayer]


class ClassShown(ListedClass):
    participants: list[ClassMember]
    """In the order in which they joined."""
    results: list[ClassResult]
    """The latest matches of their bots, the newest first."""


AnyListed = TypeVar("AnyListed", bound=ListedClass)


class DeletedClass(Struct):
    name: str
    deleted: bool


class JoinClass(Struct, forbid_unknown_fields=True):
    code: str
    """The join code; small letters and missing hyphens do not matter."""
    name: str
    """How the class shows the participant."""


class JoinedClass(Struct, rename={"class_name": "class"}):
    class_name: str
    name: str
    owner: str
    """The owner of its bots."""
    token: str
    """The owner token, which is shown only once. With it the participant registers bots."""


class ParticipantShown(Struct, rename={"class_name": "class"}):
    class_name: str
    name: str
    owner: str
    closed: bool
    """Whether the class is closed."""
    bots: list[RestBot]
    results: list[ClassResult]
    """The latest matches of its bots, the newest first."""


@organising("GET", "/classes", "The classes, the newest first.", *PAGING)
async def classes(context: ReadContext, request: RestRequest) -> ClassList:
    found = await context.store.classes.all()
    page = [
        _listed(CountedClass, one, len(await context.store.classes.participants(one.name)))
        for one in request.part(found)
    ]
    return ClassList(page, **request.page(len(found)))


@organising("GET", "/classes/{name:path}", "A class, its participants and their results.", NO_CLASS)
async def classshown(context: ReadContext, request: RestRequest) -> ClassShown:
    reader = context.store.classes
    entry = await reader.find(request.path("name"))
    people = await reader.participants(entry.name)
    names = [DELETED, *(one.name for one in people)]
    bots = await reader.bots([owner_in(entry.name, name) for name in names])
    owned = defaultdict[str, list[str]](list)
    for bot in bots:
        owned[_owner(bot)].append(bot.name)
    uploaded = await context.store.uploads.accepted([bot.name for bot in bots])
    members = [
        copied(ClassMember, one, bots=mine, uploaded=[bot for bot in mine if bot in uploaded])
        for one in people
        for mine in [owned[one.name]]
    ]
    return _listed(ClassShown, entry, members, results=await _results(context.store, bots))


@organising("POST", "/classes", "Create a class.", NOT_NOW, answer=ClassShown, status=201)
async def createclass(operator: Operator, _: RestRequest, new: NewClass) -> AnswerOf:
    await operator.create_class(new.name, new.hours)
    return AnswerOf(classshown.__name__, {"name": new.name})


@organising(
    "POST",
    "/classes/{name:path}",
    "Reset the join code of a class; rename, merge or remove participants; or close it.",
    NO_CLASS,
    NOT_NOW,
    answer=ClassShown,
)
async def orderclass(operator: Operator, request: RestRequest, order: AnyClassOrder) -> AnswerOf:
    await operator.order_class(request.path("name"), order)
    return AnswerOf(classshown.__name__, {"name": request.path("name")})


@organising("DELETE", "/classes/{name:path}", "Delete a class with its participants.", NO_CLASS)
async def deleteclass(operator: Operator, request: RestRequest) -> DeletedClass:
    await operator.delete_class(request.path("name"))
    return DeletedClass(request.path("name"), True)


# Assignments: contests of a class.

NO_ASSIGNMENT = (404, "There is no such contest of a class.")
ZIP = "application/zip"


@organising(
    "GET",
    "/class-grades/{name:path}",
    "The grades of a class in a contest, as CSV: a line for each bot, and for each participant "
    "without one.",
    NO_ASSIGNMENT,
    answer=CSV,
)
async def classgrades(context: ReadContext, request: RestRequest) -> bytes:
    progress = await _assignment(context, request)
    document = progress.document
    owners = {one.bot: one.owner for one in await context.store.uploads.frozen(document.name)}
    lines = grade_lines(progress, {bot: owner.rpartition(AT)[0] for bot, owner in owners.items()})
    there = {line[0] for line in lines}
    people = await context.store.classes.participants(document.entry.class_)
    columns = grade_columns(document)
    empty = [""] * (len(columns) - 1)
    missing = [(one.name, *empty) for one in people if one.name not in there]
    return as_csv(columns, [*lines, *missing])


@organising(
    "GET",
    "/class-uploads/{name:path}",
    "The versions that play in a contest of a class: a zip archive with an archive for each bot.",
    NO_ASSIGNMENT,
    answer=ZIP,
)
async def classuploads(context: ReadContext, request: RestRequest) -> bytes:
    contest = (await _assignment(context, request)).document.name
    whole = BytesIO()
    with ZipFile(whole, "w") as archive:
        for one in await context.store.uploads.frozen(contest):
            owner = _in_paths(one.owner.rpartition(AT)[0])
            data = await context.store.uploads.archive_of(one)
            archive.writestr(f"{owner}/{_in_paths(one.bot)}.zip", data)
    return whole.getvalue()


async def _assignment(context: ReadContext, request: RestRequest) -> ContestProgress:
    progress = await progress_called(context, request.path("name"))
    if progress.document.entry.kind != "class":
        raise Problem(f"{progress.document.name!r} is no contest of a class", 404)
    return progress


def _in_paths(name: str) -> str:
    """Return a name as a part of a path; different names stay different."""
    return "".join(one if one.isalnum() or one in " -_" else f"%{ord(one):02X}" for one in name)


@endpoint(
    "POST",
    "/participants",
    "Join a class by its code.",
    (404, "No class has this join code."),
    (409, "The code has expired, the name is taken, or the class is closed or full."),
    (429, "Too many wrong codes were tried."),
    status=201,
)
async def joinclass(arena: Arena, _: RestRequest, new: JoinClass) -> JoinedClass:
    one, token = await arena.classes.join(new.code, new.name)
    return JoinedClass(one.class_name, one.name, owner_in(one.class_name, one.name), token)


@endpoint(
    "GET",
    "/participant",
    "The participant of a class with this owner token, its bots and their results.",
    (401, "There is no token."),
    (403, "It is not the token of a participant."),
    private=True,
)
async def participant(context: ReadContext, request: RestRequest) -> ParticipantShown:
    one = await context.call(participant_with, request.token)
    entry = await context.store.classes.find(one.class_name)
    owner = owner_in(one.class_name, one.name)
    bots = await context.store.classes.bots([owner])
    results = await _results(context.store, bots)
    closed, listed = entry.closed is not None, [shown(bot) for bot in bots]
    return ParticipantShown(one.class_name, one.name, owner, closed, listed, results)


def _listed(
    kind: type[AnyListed], entry: ClassEntry, participants: object, **more: object
) -> AnyListed:
    return copied(kind, entry, code=code_of(entry), participants=participants, **more)


def _owner(bot: BotEntry) -> str:
    """Return the name of a participant that owns a bot."""
    return bot.owner.rpartition(AT)[0]


async def _results(store: StoreReader, bots: Iterable[BotEntry]) -> list[ClassResult]:
    known = {bot.name: bot for bot in bots}
    wanted = Wanted(any_of=[*known], limit=LATEST)
    found = await store.matches(wanted) if known else []
    return [
        copied(
            ClassResult,
            one,
            players=[_player(one, seat, known) for seat in range(len(one.players))],
        )
        for one in found
    ]


def _player(entry: MatchEntry, seat: int, bots: dict[str, BotEntry]) -> ClassPlayer:
    name, place = entry.players[seat], entry.result.places[seat] if entry.result else None
    bot = bots.get(name)
    owner = _owner(bot) if bot is not None and is_bots(entry, seat, bot) else None
    return ClassPlayer(DELETED if owner == DELETED else name, owner, place)
