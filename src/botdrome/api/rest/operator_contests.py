"""Contests of the organiser: create, change, start, pause and end them, and take bots out."""

from collections.abc import Awaitable
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from botdrome.api.rest.contest_documents import HIDDEN, contestdocument, given_document
from botdrome.api.rest.endpoint import AnswerOf, RestRequest
from botdrome.api.rest.operator_session import json_body, private
from botdrome.contest.document import ContestDocument, to_toml
from botdrome.server.contests.contests import Action
from botdrome.server.operator.operator import Operator


class GivenDocument(Struct, forbid_unknown_fields=True):
    toml: Annotated[str | None, Meta(description="The document in TOML.")] = None
    document: Annotated[dict[str, Any] | None, Meta(description="Or the same as JSON.")] = None


class ContestAction(Struct, forbid_unknown_fields=True):
    action: Action


class Withdrawal(Struct, forbid_unknown_fields=True):
    bot: str
    reason: str = ""


class ContestText(Struct):
    name: str
    toml: Annotated[str, Meta(description="The document in TOML, with its password.")]


@private
async def contesttext(operator: Operator, request: RestRequest) -> ContestText:
    document = await operator.contests.document(request.path("name"))
    return ContestText(document.name, to_toml(document))


class RerunOfContest(Struct, forbid_unknown_fields=True):
    bots: Annotated[list[str], Meta(description="Play all matches of these bots again.")] = []
    failed: Annotated[
        bool, Meta(description="Play only matches with no-shows and crashes again.")
    ] = False


@private
async def createcontest(operator: Operator, request: RestRequest) -> AnswerOf:
    document = _document(await json_body(request, GivenDocument))
    return await _done(document.name, operator.contests.create(document))


@private
async def changecontest(operator: Operator, request: RestRequest) -> AnswerOf:
    given: GivenDocument = await json_body(request, GivenDocument)
    name = request.path("name")
    document = _document(given, await operator.contests.document(name))
    return await _done(name, operator.contests.change(name, document))


@private
async def actoncontest(operator: Operator, request: RestRequest) -> AnswerOf:
    given: ContestAction = await json_body(request, ContestAction)
    name = request.path("name")
    return await _done(name, operator.contests.act(name, given.action))


@private
async def withdrawbot(operator: Operator, request: RestRequest) -> AnswerOf:
    given: Withdrawal = await json_body(request, Withdrawal)
    name = request.path("name")
    return await _done(name, operator.contests.take_out(name, given.bot, given.reason))


@private
async def reruncontest(operator: Operator, request: RestRequest) -> AnswerOf:
    given: RerunOfContest = await json_body(request, RerunOfContest)
    name = request.path("name")
    return await _done(name, operator.contests.rerun(name, given.bots, given.failed))


def _document(given: GivenDocument, before: ContestDocument | None = None) -> ContestDocument:
    """A password that is shown as `...` stays as it was."""
    document = given_document(given.toml, given.document)
    if before is None or document.entry.password != HIDDEN:
        return document
    return replace(document, entry=replace(document.entry, password=before.entry.password))


async def _done(name: str, change: Awaitable[object]) -> AnswerOf:
    """Return the contest after a change."""
    await change
    return AnswerOf(contestdocument.__name__, {"name": name})
