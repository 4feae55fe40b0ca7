"""Endpoints of REST, their requests and answers, and the OpenAPI document made from them."""

import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from http import HTTPStatus
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import structlog
from msgspec import Meta, Struct
from msgspec.structs import fields, replace
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from botdrome.api.requests import (
    LONGEST_LIST,
    SHORT_LIST,
    PiecewiseResponse,
    Problem,
    ReadContext,
    bearer,
    epoch,
    game_called,
    iso,
    json_response,
    known_problem,
    whole_body,
)
from botdrome.catalogue import CATALOGUE
from botdrome.games.reading import UNREADABLE, bounded
from botdrome.match.terms import PaceName
from botdrome.server.arena import Arena
from botdrome.server.settings import field_notes
from botdrome.server.workers.jobs import CLIENT, SharedSlots
from botdrome.version import __version__
from botdrome.wire.battlebot.messages import game_type

log = structlog.get_logger()
T = TypeVar("T")
S = TypeVar("S", bound=Struct)

JSON, NDJSON = "application/json", "application/x-ndjson"
CSV = "text/csv; charset=utf-8"
EXECUTOR = "botdrome.api.rest.executor:answer"
MOST_FILES = 8
"""Files that wait for a worker process or are read by one.

One client can have half of these slots.
"""
CHANGED = (
    "The change was carried out, but the state after it cannot be shown just now: read it "
    "in "
    "a moment."
)
TOO_MANY_FILES = "Too many files are being read already; try again in a moment."

Moment = Annotated[
    str, Meta(description="A moment in UTC, as in ISO 8601.", examples=["2026-11-15T02:27:15.123Z"])
]
GameName = Annotated[str, Meta(description="A game.", examples=["noughts-and-crosses"])]
GameType = Annotated[
    str,
    Meta(
        description="The same game as the native protocol calls it.",
        examples=["NOUGHTS_AND_CROSSES"],
    ),
]
Pace = Annotated[
    PaceName, Meta(description="usual, or for people slow or stepped: such a match is unrated.")
]


class ListPage(Struct, kw_only=True):
    """A part of a list."""

    total: int
    limit: int
    offset: int


class Error(Struct):
    error: str


def copied(kind: type[S], found: Any, **given: Any) -> S:
    """Return a struct with the attributes of `found`, except the fields that are given.

    Times become moments, and the game gives its type.
    """
    for name in kind.__struct_fields__:
        if name == "gameType":
            given[name] = game_type(found.game)
        elif name not in given:
            value = getattr(found, name)
            given[name] = iso(value) if name in _moments(kind) and value is not None else value
    return kind(**given)


@cache
def _moments(kind: type[Struct]) -> set[str]:
    return {field.name for field in fields(kind) if field.type in (Moment, Moment | None)}


class Parameter(Struct, frozen=True):
    name: str
    description: str
    kind: Literal["string", "integer"] = "string"
    many: bool = False
    choices: tuple[str, ...] = ()


PAGING = (
    Parameter(
        "limit",
        f"How many at most: {SHORT_LIST} if nothing is said, {LONGEST_LIST} at the utmost.",
        "integer",
    ),
    Parameter("offset", "How many to leave out at the beginning.", "integer"),
)
OPTION_SET = Parameter(
    "options",
    "Ratings with these options, as a JSON object. If nothing is said, the standard options if "
    "there are matches.",
)
TABLE_SIZE = Parameter(
    "players",
    "Ratings at tables with that many seats. If nothing is said, the size with the most matches.",
    "integer",
)


GAME = Parameter("game", f"One of {', '.join(CATALOGUE)}.")
NO_GAME = (404, "There is no such game.")
NOT_JSON = (415, "The body is not JSON.")


def sorted_by(*columns: str) -> Parameter:
    """The parameter that sorts a list."""
    choices = tuple(sign + column for column in columns for sign in ("", "-"))
    return Parameter(
        "sort", "By which column; with a minus, the largest or latest first.", choices=choices
    )


class RawRequest(Struct, frozen=True):
    """A raw request, with the body if the endpoint takes a file."""

    endpoint: str
    query: str
    path: dict[str, Any]
    authorization: str
    gzip: bool = False
    """Whether the client accepts compressed answers."""
    file: bytes = b""


class RestRequest:
    """A request whose parameters are those of the endpoint."""

    def __init__(
        self, raw: RawRequest, parameters: tuple[Parameter, ...], request: Request | None = None
    ) -> None:
        """`request` is needed to read a body."""
        self._raw, self._request = raw, request
        self._query = QueryParams(raw.query)
        known = {parameter.name: parameter for parameter in parameters}
        for name in self._query:
            if name not in known:
                raise Problem(
                    f"there is no parameter {name!r}"
                    + (f"; there are {', '.join(known)}" if known else "")
                )
            choices = known[name].choices
            if choices and self._query[name] not in choices:
                raise Problem(f"{name} is one of {', '.join(choices)}, not {self._query[name]!r}")
        for text in (*self._query.values(), *raw.path.values()):
            if "\0" in str(text):
                raise Problem("a text must not contain the character NUL")

    @property
    def http(self) -> Request:
        assert self._request is not None
        return self._request

    def path(self, name: str) -> Any:
        return self._raw.path[name]

    def text(self, name: str) -> str | None:
        return self._query.get(name)

    @property
    def game(self) -> str | None:
        """The game in the query."""
        name = self._query.get("game")
        return None if name is None else game_called(name)

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(self._query.getlist(name))

    def moment(self, name: str) -> int | None:
        """In milliseconds since 1970."""
        text = self._query.get(name)
        if text is None:
            return None
        try:
            return epoch(text)
        except ValueError:
            raise Problem(
                f"{name} is a date or a moment as in ISO 8601, such as 2026-11-15T02:27:15Z, not "
                f"{text!r}"
            ) from None

    def order(self, default: str) -> tuple[str, bool]:
        """The column that sorts the list, and whether the largest comes first."""
        sort = self._query.get("sort", default)
        return sort.removeprefix("-"), sort.startswith("-")

    @property
    def limit(self) -> int:
        return self._number("limit", SHORT_LIST, 1, LONGEST_LIST)

    @property
    def offset(self) -> int:
        return self._number("offset", 0, 0, 2**31 - 1)

    def table_size(self, usual: Sequence[int]) -> int | None:
        """The number of seats that is asked for, else the most usual one."""
        return (
            self._number("players", 2, 2, 1000)
            if "players" in self._query
            else next(iter(usual), None)
        )

    def _number(self, name: str, default: int, least: int, most: int) -> int:
        text = self._query.get(name)
        if text is None:
            return default
        if not text.isascii() or not text.isdecimal() or not least <= int(text[:12]) <= most:
            raise Problem(f"{name} is a number from {least} to {most}, not {text!r}")
        return int(text)

    def part(self, whole: Sequence[T]) -> Sequence[T]:
        """The part of a list that is asked for."""
        return whole[self.offset : self.offset + self.limit]

    def page(self, total: int) -> dict[str, int]:
        """The fields of a ListPage."""
        return {"total": total, "limit": self.limit, "offset": self.offset}

    @property
    def given_token(self) -> str | None:
        return bearer(self._raw.authorization)

    @property
    def token(self) -> str:
        token = self.given_token
        if token is None:
            raise Problem(
                "a token is needed: Authorization: Bearer TOKEN",
                401,
                {"www-authenticate": "Bearer"},
            )
        return token

    @property
    def file(self) -> bytes:
        return self._raw.file

    async def body(self, kind: Any, json_only: bool = False) -> Any:
        """`json_only`: refuse other content types. A form of another page cannot send JSON."""
        media = self.http.headers.get("content-type", "").partition(";")[0].strip().lower()
        if json_only and media != JSON:
            raise Problem(f"the body has the content type {JSON}, not {media!r}", 415)
        try:
            return msgspec.json.decode(bounded(await whole_body(self.http)), type=kind)
        except UNREADABLE as error:
            raise Problem(f"the body is not what it should be: {error}") from None


class AnswerOf(Struct, frozen=True):
    """The answer of a handler that a worker process computes after a change: that of an endpoint
    that only reads.
    """

    endpoint: str
    path: dict[str, str]


Handler = Callable[..., Awaitable[Any]]
"""Takes the arena, the operator or in a worker process a `ReadContext`; the request; the body."""
H = TypeVar("H", bound=Handler)
Check = Callable[[Any, RestRequest], Awaitable[object]]
Refused = tuple[int, str]
"""A status, and when it is sent, in words."""


class RestEndpoint(Struct, frozen=True):
    method: str
    path: str
    summary: str
    handler: Handler
    answer: Any
    """A struct that becomes JSON; a media type, such as NDJSON: the handler gives the bytes."""
    parameters: tuple[Parameter, ...] = ()
    problems: tuple[Refused, ...] = ()
    body: Any = None
    """The type of the body in the OpenAPI document."""
    taken: Any = None
    """The type of the body that the handler takes."""
    json_only: bool = False
    """A body has the content type of JSON."""
    private: bool = False
    """It needs a token."""
    check: Check | None = None
    """Raises Problem unless the client may use the endpoint."""
    status: int = HTTPStatus.OK
    in_worker: bool = False
    """It only reads, and a worker process answers it."""
    file: int = 0
    """The most bytes of a file that it takes instead of a body in JSON."""
    keeps: float = 0
    """Seconds for which a successful answer is kept, if it depends on the path alone; inf: it never
    changes.
    """
    lines: tuple[Any, ...] = ()
    """The types of the lines of an answer in NDJSON."""

    @property
    def media(self) -> str:
        return self.answer if isinstance(self.answer, str) else JSON

    @property
    def name(self) -> str:
        return self.handler.__name__

    async def respond(
        self, arena: Arena, files: SharedSlots, subject: Any, request: Request
    ) -> Response:
        """`subject` is given to the handler, unless a worker process calls it."""
        raw = RawRequest(
            self.name,
            request.url.query,
            request.path_params,
            request.headers.get("authorization", ""),
            "gzip" in request.headers.get("accept-encoding", ""),
        )
        try:
            if self.file:
                file = await whole_body(request, self.file)
                with files.held(CLIENT.get().source, TOO_MANY_FILES):  # each takes much memory
                    return await _answered_by_worker(arena, replace(raw, file=file))
            if self.in_worker:
                if self.check is not None:
                    await self.check(subject, RestRequest(raw, self.parameters, request))
                return await _answered_by_worker(arena, raw)
            answer = await self._handled(subject, RestRequest(raw, self.parameters, request))
            if isinstance(answer, AnswerOf):
                raw = replace(raw, endpoint=answer.endpoint, query="", path=answer.path)
                return await _answered_after_change(arena, raw, self.status)
        except Exception as error:
            return error_response(problem_of(error))
        if isinstance(answer, Response):
            return answer
        return json_response(answer, self.status)

    async def _handled(self, subject: Any, request: RestRequest) -> Any:
        if self.check is not None:
            await self.check(subject, request)
        if self.taken is None:
            return await self.handler(subject, request)
        return await self.handler(subject, request, await request.body(self.taken, self.json_only))


class Endpoints:
    """Declares the endpoints of a module, each at its handler.

    The annotations of the handler say the rest: with a `ReadContext` as its first argument, a
    worker process answers; a third argument is the body; the return type is that of the answer.
    """

    def __init__(self, base: str = "", *problems: Refused, **usual: Any) -> None:
        """`problems` and `usual` hold for all these endpoints."""
        self._base, self._problems, self._usual = base, problems, usual
        self.declared: list[RestEndpoint] = []

    def __call__(
        self, method: str, path: str, summary: str, *about: Parameter | Refused, **more: Any
    ) -> Callable[[H], H]:
        """`about` has the parameters of the query, and the problems that the client may meet."""

        def declare(handler: H) -> H:
            kinds = dict(handler.__annotations__)
            answer = kinds.pop("return")
            subject, _, *body = kinds.values()
            found: dict[str, Any] = {
                "answer": NDJSON if answer is bytes else answer,
                "parameters": tuple(one for one in about if isinstance(one, Parameter)),
                "in_worker": subject is ReadContext,
            }
            problems = [one for one in about if not isinstance(one, Parameter)]
            if body:
                found |= {"body": body[0], "taken": body[0]}
                problems += [NOT_JSON] if self._usual.get("json_only") else []
            found["problems"] = (*self._problems, *problems)
            named = found | self._usual | more
            self.declared.append(RestEndpoint(method, self._base + path, summary, handler, **named))
            return handler

        return declare


async def _answered_by_worker(arena: Arena, raw: RawRequest) -> Response:
    return PiecewiseResponse(await arena.workers.read(arena.store, EXECUTOR, raw))


async def _answered_after_change(arena: Arena, raw: RawRequest, status: int) -> Response:
    """The change has taken effect, so a failure to show it must not look like a failure of the
    change.
    """
    try:
        return PiecewiseResponse(await arena.workers.read(arena.store, EXECUTOR, raw), status)
    except Exception as error:
        log.warning(
            "a change was carried out, but cannot be shown",
            endpoint=raw.endpoint,
            problem=problem_of(error).words,
        )
    return json_response(raw.path | {"done": CHANGED}, HTTPStatus.ACCEPTED)


def problem_of(error: Exception) -> Problem:
    """Return the problem for the client. An unexpected error is logged."""
    problem = known_problem(error)
    if problem is None:
        log.error("a request failed", exc_info=error)
        problem = Problem("something went wrong in the server", 500)
    return problem


def error_response(problem: Problem) -> Response:
    return json_response(Error(problem.words), problem.status, problem.headers)


Schema = dict[str, Any]
REST_PREFIX = re.compile(rb'("(?:#/components/schemas/)?)Rest(?=[A-Z]\w*")')
"""Of the names of classes, where another class has the plain name.

The document shows plain names.
"""


def document(base: str, endpoints: Sequence[RestEndpoint]) -> bytes:
    kinds = [
        kind
        for endpoint in endpoints
        for kind in (endpoint.answer, endpoint.body, *endpoint.lines)
        if kind is not None and not isinstance(kind, str)
    ]
    references, components = msgspec.json.schema_components(
        [*kinds, Error], ref_template="#/components/schemas/{name}"
    )
    for module in {endpoint.handler.__module__ for endpoint in endpoints}:
        _describe(components, module)
    known = dict(zip([*kinds, Error], references, strict=True))
    paths: dict[str, Schema] = {}
    for endpoint in endpoints:
        path = re.sub(r":\w+}", "}", base + endpoint.path)
        paths.setdefault(path, {})[endpoint.method.lower()] = _operation(endpoint, known)
    about = {
        "openapi": "3.1.0",
        "info": {
            "title": "Botdrome",
            "version": __version__,
            "description": "Bots, matches and contests of this arena.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
    return REST_PREFIX.sub(rb"\1", msgspec.json.encode(about))


def _describe(components: dict[str, Schema], module: str) -> None:
    """Describe the fields of a module's structs by the strings that follow them there."""
    for struct, notes in field_notes(module).items():
        base = getattr(sys.modules[module], struct)
        for kind in (base, *base.__subclasses__()):
            if notes and kind.__name__ in components:
                properties = components[kind.__name__]["properties"]
                names = dict(
                    zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
                )
                for field, words in notes.items():
                    described = properties[names[field]]
                    properties[names[field]] = {"description": words} | described


def _operation(endpoint: RestEndpoint, known: dict[Any, Schema]) -> Schema:
    operation: Schema = {
        "summary": endpoint.summary,
        "operationId": endpoint.name,
        "parameters": [
            *_in_path(endpoint.path),
            *(_in_query(parameter) for parameter in endpoint.parameters),
        ],
        "responses": _responses(endpoint, known),
    }
    if endpoint.body is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {JSON: {"schema": known[endpoint.body]}},
        }
    elif endpoint.file:
        operation["requestBody"] = {"required": True, "content": {NDJSON: {"schema": _TEXT}}}
    if endpoint.private:
        operation["security"] = [{"token": []}]
    return operation


def _in_path(path: str) -> list[Schema]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "integer", "minimum": 0} if kind == ":int" else _TEXT,
        }
        for name, kind in re.findall(r"{(\w+)(:\w+)?}", path)
    ]


_TEXT = {"type": "string"}


def _in_query(parameter: Parameter) -> Schema:
    schema: Schema = {"type": parameter.kind}
    if parameter.choices:
        schema["enum"] = parameter.choices
    if parameter.many:
        schema = {"type": "array", "items": schema}
    return {
        "name": parameter.name,
        "in": "query",
        "description": parameter.description,
        "schema": schema,
    }


def _responses(endpoint: RestEndpoint, known: dict[Any, Schema]) -> Schema:
    lines = {"oneOf": [known[kind] for kind in endpoint.lines]} if endpoint.lines else _TEXT
    schema = lines if isinstance(endpoint.answer, str) else known[endpoint.answer]
    good = {endpoint.media: {"schema": schema}}
    sorry = {JSON: {"schema": known[Error]}}
    answers: Schema = {str(endpoint.status): {"description": "The answer.", "content": good}}
    for status, words in ((400, "The request has an error."), *endpoint.problems):
        answers[str(status)] = {"description": words, "content": sorry}
    return answers
