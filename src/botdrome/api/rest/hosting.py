"""Hosted bots over REST: uploads of their authors, the work of runners, and the operator's part."""

import hashlib
from time import time
from typing import Annotated

from msgspec import Meta, Struct

from botdrome.api.requests import Problem, ReadContext, add_upload, check_upload, no_bot
from botdrome.api.rest.bots import PRIVATE, held
from botdrome.api.rest.endpoint import Endpoints, Moment, Parameter, RestRequest, copied
from botdrome.api.rest.operator import LIMITS, seconds_left
from botdrome.server.arena import Arena
from botdrome.server.operator.operator import Operator
from botdrome.server.settings import LARGEST_UPLOAD
from botdrome.store.entries import BotEntry, hashed
from botdrome.store.store import keep_archive
from botdrome.store.uploads import State
from botdrome.wire.conversation import LONGEST_VERSION
from botdrome.wire.upload import RunnerMachine, RunnerNews, UploadLimits, listed

endpoint = Endpoints()
organising = Endpoints("/operator", *LIMITS, json_only=True, private=True, check=seconds_left)
DIGITS = 12
"""Of the hash, as the version of an upload without a name; as `botdrome join` does."""
NOT_HOSTED = (409, "There is no such version, or it was not accepted.")
NO_LEASE = "there is no such lease; it may have ended"
LEASED = ((401, "There is no credential."), (404, "The lease has ended."))
MOST_LEASES = 1000


class RestUpload(Struct, rename="camel"):
    number: int
    version: str
    """What the bot names as its version when it logs in; its ratings are by version."""
    hash: str
    size: int
    uploaded: Moment
    state: State
    """waiting: for its check; a rejected version never plays."""
    report: str
    active: bool
    """Whether this is the version that plays."""
    paused: str
    """Why it does not play at present; empty: it does."""
    runner: str | None
    """The runner that checks or plays it."""
    runner_class: str
    """The class of that runner's machine; empty: it has not been seen since the server started."""


class RestUploads(Struct):
    bot: str
    uploads: list[RestUpload]
    """The newest first."""
    limits: UploadLimits


class UploadAdded(Struct):
    bot: str
    number: int
    version: str
    files: dict[str, int]
    """The size of each file."""


class UploadChange(Struct, forbid_unknown_fields=True):
    active: int | None = None
    """The number of the version that plays from now on."""
    paused: bool | None = None


class NumberOfUpload(Struct, forbid_unknown_fields=True):
    number: int


class LogShown(Struct):
    match: str
    version: str
    written: Moment
    fault: str
    """Why the bot failed; empty: it did not."""
    log: str
    """The end of its standard error."""


class LogsShown(Struct):
    bot: str
    logs: list[LogShown]
    """The newest first."""


@endpoint(
    "POST",
    "/uploads/{name:path}",
    "Upload a version of a bot: a zip archive with a bot.toml, or with one file bot.py.",
    Parameter("version", "Its name. If nothing is said, the beginning of the archive's hash."),
    *PRIVATE,
    (409, "The owner has uploaded too often today, or the bot has a URL."),
    (413, "The archive is too large."),
    (422, "The archive is refused."),
    private=True,
    file=LARGEST_UPLOAD,
    status=201,
)
async def upload(context: ReadContext, request: RestRequest) -> UploadAdded:
    """Answered by a worker process, which also stores the archive: megabytes would block the
    server.
    """
    name = request.path("name")
    if await context.store.bot(name) is None:
        raise no_bot(name)
    bot = await context.call(Arena.author, name, request.token)
    if bot is None:
        raise Problem(f"that is not the token of {name}", 403)
    limits = await context.call(check_upload, bot)
    files, digest = listed(request.file, limits), hashlib.sha256(request.file).hexdigest()
    version = request.text("version") or digest[:DIGITS]
    if len(version) > LONGEST_VERSION or not version.isprintable():
        raise Problem(f"a version has at most {LONGEST_VERSION} printable characters")
    await keep_archive(context.store.source, digest, request.file)
    number = await context.call(add_upload, bot, version, digest, len(request.file))
    return UploadAdded(bot.name, number, version, files)


@endpoint("GET", "/uploads/{name:path}", "The uploaded versions of a bot.", *PRIVATE, private=True)
async def uploads(arena: Arena, request: RestRequest) -> RestUploads:
    return await _uploads(arena, await _bot(arena, request))


@endpoint(
    "PUT",
    "/uploads/{name:path}",
    "Let another version play; or pause or resume the one that plays.",
    *PRIVATE,
    NOT_HOSTED,
    private=True,
)
async def changeuploads(arena: Arena, request: RestRequest, change: UploadChange) -> RestUploads:
    bot = await _bot(arena, request)
    if change.active is not None:
        await arena.hosting.activate(bot, change.active)
    if change.paused is not None:
        await arena.hosting.pause(bot, "paused by its author" if change.paused else "")
    return await _uploads(arena, bot)


@endpoint(
    "DELETE",
    "/uploads/{name:path}",
    "Delete a version and its archive.",
    *PRIVATE,
    NOT_HOSTED,
    private=True,
)
async def deleteupload(arena: Arena, request: RestRequest, which: NumberOfUpload) -> RestUploads:
    bot = await _bot(arena, request)
    await arena.hosting.delete(bot, which.number)
    return await _uploads(arena, bot)


@endpoint(
    "GET",
    "/upload-logs/{name:path}",
    "What a hosted bot wrote to its standard error in its last matches.",
    *PRIVATE,
    private=True,
)
async def uploadlogs(arena: Arena, request: RestRequest) -> LogsShown:
    bot = await _bot(arena, request)
    logs = await arena.store.uploads.logs(bot.name)
    return LogsShown(bot.name, [copied(LogShown, log) for log in logs])


async def _bot(arena: Arena, request: RestRequest) -> BotEntry:
    return await held(arena, request, request.path("name"), Arena.author)


async def _uploads(arena: Arena, bot: BotEntry) -> RestUploads:
    hosting, found = arena.hosting, await arena.store.uploads.of_bot(bot.name)
    shown = [
        copied(RestUpload, one, runner_class=hosting.machine_of(one.runner).runner_class)
        for one in found
    ]
    return RestUploads(bot.name, shown, hosting.limits)


# Runners.


class RunnerBeat(Struct, forbid_unknown_fields=True):
    machine: RunnerMachine
    held: list[str]
    """The hashes of the credentials of all its leases. Its other leases end."""
    checks: Annotated[int, Meta(ge=0, le=MOST_LEASES)]
    """Versions that it can check beside these."""
    bots: Annotated[int, Meta(ge=0, le=MOST_LEASES)]
    """Bots that it can play beside these."""


class LeasedArchive(Struct):
    data: bytes
    """In base64."""


class CheckDone(Struct, forbid_unknown_fields=True):
    accepted: bool
    report: str


class HostedMatch(Struct, forbid_unknown_fields=True):
    match: str
    fault: str
    log: str


class PausedBot(Struct, forbid_unknown_fields=True):
    why: str


class RunnerDone(Struct):
    done: bool = True


@endpoint(
    "POST",
    "/runner/beats",
    "Renew the leases of a runner, and give it new ones; waits up to 2 s for them.",
    (401, "There is no token, or it is not that of a runner."),
    private=True,
)
async def runnerbeat(arena: Arena, request: RestRequest, beat: RunnerBeat) -> RunnerNews:
    name = await arena.hosting.runner_of(request.token)
    if name is None:
        raise Problem("that is not the token of a runner", 401, {"www-authenticate": "Bearer"})
    return await arena.hosting.beat(name, beat.machine, beat.held, beat.checks, beat.bots)


@endpoint("GET", "/runner/archive", "The archive of a lease.", *LEASED, private=True)
async def leasedarchive(context: ReadContext, request: RestRequest) -> LeasedArchive:
    data = await context.store.uploads.archive(hashed(request.token), int(time() * 1000))
    if data is None:
        raise Problem(NO_LEASE, 404)
    return LeasedArchive(data)


@endpoint("POST", "/runner/reports", "The result of a check.", *LEASED, private=True)
async def checkdone(arena: Arena, request: RestRequest, done: CheckDone) -> RunnerDone:
    await arena.hosting.report(request.token, done.accepted, done.report)
    return RunnerDone()


@endpoint(
    "POST", "/runner/logs", "The log of a match that a hosted bot has played.", *LEASED,
    private=True,
)  # fmt: skip
async def hostedmatch(arena: Arena, request: RestRequest, played: HostedMatch) -> RunnerDone:
    await arena.hosting.add_log(request.token, played.match, played.fault, played.log)
    return RunnerDone()


@endpoint("POST", "/runner/pauses", "Pause a bot that fails too often.", *LEASED, private=True)
async def pausebot(arena: Arena, request: RestRequest, paused: PausedBot) -> RunnerDone:
    await arena.hosting.pause_leased(request.token, paused.why)
    return RunnerDone()


# The operator.


class NewRunner(Struct, forbid_unknown_fields=True):
    name: Annotated[str, Meta(min_length=1, max_length=64)]


class RunnerAdded(Struct):
    name: str
    token: str
    """Shown only once."""


class RunnerShown(Struct, rename="camel"):
    name: str
    added: Moment
    about: str
    """What the runner says of its machine; empty: it was not seen since the server started."""
    runner_class: str
    """The class of its machine: contests may demand one."""
    speed: float
    """Of its machine for bots in Python; 0: unknown."""
    bots: int
    """Versions that it checks or plays."""
    paused: str
    """Why it gets no work at present; empty: it does."""


class RunnersShown(Struct):
    runners: list[RunnerShown]


class InvitedBot(Struct, forbid_unknown_fields=True):
    bot: str
    invited: bool = True


@organising("GET", "/runners", "The runners of hosted bots.")
async def runners(operator: Operator, _: RestRequest) -> RunnersShown:
    return RunnersShown([copied(RunnerShown, one) for one in await operator.hosting.runners()])


@organising("POST", "/runners", "Add a runner, or give it a new token.", status=201)
async def addrunner(operator: Operator, _: RestRequest, new: NewRunner) -> RunnerAdded:
    return RunnerAdded(new.name, await operator.add_runner(new.name))


@organising(
    "DELETE", "/runners", "Remove a runner. Its bots move to others.", (404, "No such runner.")
)
async def removerunner(operator: Operator, request: RestRequest, old: NewRunner) -> RunnersShown:
    if not await operator.remove_runner(old.name):
        raise Problem(f"there is no runner {old.name!r}", 404)
    return await runners(operator, request)


@organising(
    "PUT", "/invitations", "Let a bot be uploaded, or no longer.", (404, "There is no such bot.")
)
async def invite(operator: Operator, _: RestRequest, wanted: InvitedBot) -> InvitedBot:
    if not await operator.invite(wanted.bot, wanted.invited):
        raise no_bot(wanted.bot)
    return wanted
