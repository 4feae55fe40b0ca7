"""Endpoint: one thing that REST can be asked, from which both its route and its page in the OpenAPI document are made."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, Literal

import msgspec
import structlog
from msgspec import Struct
from msgspec.structs import replace
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from botdrome.api.away import Away
from botdrome.api.bodies import bearer, whole_body
from botdrome.api.dates import epoch
from botdrome.api.paging import LONGEST_LIST, SHORT_LIST
from botdrome.api.pieces import InPieces
from botdrome.api.problems import Problem
from botdrome.api.registration import refusal

log = structlog.get_logger()

NDJSON = "application/x-ndjson"


class Parameter(Struct, frozen=True):
    name: str
    description: str
    kind: Literal["string", "integer"] = "string"
    many: bool = False
    choices: tuple[str, ...] = ()


PAGING = (
    Parameter("limit", f"How many at most: {SHORT_LIST} if nothing is said, {LONGEST_LIST} at the utmost.", "integer"),
    Parameter("offset", "How many to leave out at the beginning.", "integer"),
)


def sorted_by(*columns: str) -> Parameter:
    """The parameter by which a list is sorted."""
    choices = tuple(sign + column for column in columns for sign in ("", "-"))
    return Parameter("sort", "By which column; with a minus, the largest or latest first.", choices=choices)


class Call(Struct, frozen=True):
    """A request as it came. Its body is here only where the endpoint takes a file."""

    endpoint: str
    query: str
    path: dict[str, Any]
    authorization: str
    packed: bool = False
    """Whether the client takes answers that are packed with gzip."""
    file: bytes = b""


class Asked:
    """A request, read as the endpoint says that it may be made."""

    def __init__(self, call: Call, parameters: tuple[Parameter, ...], request: Request | None = None) -> None:
        """`request` is for those with a body."""
        self._call, self._request = call, request
        self._query = QueryParams(call.query)
        known = {parameter.name: parameter for parameter in parameters}
        for name in self._query:
            if name not in known:
                raise Problem(f"there is no parameter {name!r}" + (f"; there are {', '.join(known)}" if known else ""))
            choices = known[name].choices
            if choices and self._query[name] not in choices:
                raise Problem(f"{name} is one of {', '.join(choices)}, not {self._query[name]!r}")
        for text in (*self._query.values(), *call.path.values()):
            if "\0" in str(text):
                raise Problem("a text must not contain the character NUL")

    @property
    def request(self) -> Request:
        assert self._request is not None
        return self._request

    def path(self, name: str) -> Any:
        return self._call.path[name]

    def text(self, name: str) -> str | None:
        return self._query.get(name)

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
            raise Problem(f"{name} is a date or a moment as in ISO 8601, such as 2026-11-15T02:27:15Z, not {text!r}") from None

    def order(self, default: str) -> tuple[str, bool]:
        """By which column, and whether the largest comes first."""
        sort = self._query.get("sort", default)
        return sort.removeprefix("-"), sort.startswith("-")

    @property
    def limit(self) -> int:
        return self._number("limit", SHORT_LIST, 1, LONGEST_LIST)

    @property
    def offset(self) -> int:
        return self._number("offset", 0, 0, 2**31 - 1)

    def _number(self, name: str, default: int, least: int, most: int) -> int:
        text = self._query.get(name)
        if text is None:
            return default
        if not text.isascii() or not text.isdecimal() or not least <= int(text[:12]) <= most:
            raise Problem(f"{name} is a number from {least} to {most}, not {text!r}")
        return int(text)

    @property
    def token(self) -> str:
        token = bearer(self._call.authorization)
        if token is None:
            raise Problem("the bot's token is needed: Authorization: Bearer TOKEN", 401, {"www-authenticate": "Bearer"})
        return token

    @property
    def file(self) -> bytes:
        return self._call.file

    async def body(self, kind: Any) -> Any:
        try:
            return msgspec.json.decode(await whole_body(self.request), type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Problem(f"the body is not what it should be: {error}") from None


Handler = Callable[[Any, Asked], Awaitable[Any]]
"""Given the arena, the operator, or a `Reach` where it is called in a worker process."""


class Endpoint(Struct, frozen=True):
    method: str
    path: str
    summary: str
    handler: Handler
    answer: Any
    """A struct that becomes JSON; NDJSON: the handler gives its lines."""
    parameters: tuple[Parameter, ...] = ()
    body: Any = None
    private: bool = False
    status: int = HTTPStatus.OK
    problems: tuple[tuple[int, str], ...] = ()
    away: bool = False
    """It only reads, and is answered by a worker process."""
    file: int = 0
    """Bytes of a file that it takes at most, instead of a body in JSON."""
    lasting: bool = False
    """A good answer stays the same: it depends on nothing but the path."""
    lines: tuple[Any, ...] = ()
    """What the lines of an answer in NDJSON are, where they are described."""

    @property
    def media(self) -> str:
        return NDJSON if self.answer == NDJSON else "application/json"

    @property
    def name(self) -> str:
        return self.handler.__name__

    async def respond(self, away: Away, subject: Any, request: Request) -> Response:
        """`subject` is what the handler is given, unless it is called in a worker process."""
        call = Call(
            self.name,
            request.url.query,
            request.path_params,
            request.headers.get("authorization", ""),
            "gzip" in request.headers.get("accept-encoding", ""),
        )
        try:
            if self.file:
                return await self._take_in(away, request, call)
            if self.away:
                result = await away.have_done("botdrome.api.rest.work:respond", call)
                return InPieces(result.value, result)
            answer = await self.handler(subject, Asked(call, self.parameters, request))
        except Exception as error:
            return error_response(problem_of(error))
        if isinstance(answer, Response):
            return answer
        return Response(msgspec.json.encode(answer), self.status, media_type=self.media)

    async def _take_in(self, away: Away, request: Request, call: Call) -> Response:
        """Few files wait for a worker at a time: each takes much room."""
        file = await whole_body(request, self.file)
        with away.file_place():
            result = await away.have_done("botdrome.api.rest.work:respond", replace(call, file=file))
        return InPieces(result.value, result)


def problem_of(error: Exception) -> Problem:
    problem = refusal(error)
    if problem is None:
        log.error("a request failed", exc_info=error)
        problem = Problem("something went wrong in the server", 500)
    return problem


def worded(problem: Problem) -> bytes:
    return msgspec.json.encode({"error": problem.words})


def error_response(problem: Problem) -> Response:
    return Response(worded(problem), problem.status, problem.headers, "application/json")
