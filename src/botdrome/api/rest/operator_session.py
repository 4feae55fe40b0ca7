"""The session of the operator: sign in, sign out, and check every request."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from starlette.responses import Response

from botdrome.api.bodies import bearer
from botdrome.api.problems import Problem
from botdrome.api.rest.endpoint import RestRequest
from botdrome.server.network.origins import plain_origin
from botdrome.server.operator.keys import SESSION, NotOperator
from botdrome.server.operator.operator import Operator


class SignIn(Struct, forbid_unknown_fields=True):
    token: Annotated[str, Meta(description="The operator's token.")]


class SignedIn(Struct):
    signedIn: bool  # noqa: N815
    seconds: Annotated[
        float | None,
        Meta(description="Seconds that it lasts; null: the token came with the request."),
    ] = None


COOKIE = "botdrome_operator"
OURS = ("same-origin", "none")
"""The `Sec-Fetch-Site` of requests from our own pages.

Pages at other ports of this host send our cookies, too.
"""

Act = Callable[[Operator, RestRequest], Awaitable[Any]]


def private(act: Act) -> Act:
    """For the operator alone."""

    @wraps(act)
    async def checked(operator: Operator, request: RestRequest) -> Any:
        await seconds_left(operator, request)
        return await act(operator, request)

    return checked


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


async def json_body(request: RestRequest, kind: Any) -> Any:
    """Requires JSON, since a form of another page cannot send it."""
    media = request.http.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json":
        raise Problem(f"the body has the content type application/json, not {media!r}", 415)
    return await request.body(kind)


async def signin(operator: Operator, request: RestRequest) -> Response:
    given: SignIn = await json_body(request, SignIn)
    try:
        secret = await operator.keys.sign_in(given.token)
    except NotOperator as problem:
        raise Problem(str(problem), 401) from None
    await operator.audit.note("sign in")
    response = Response(msgspec.json.encode(SignedIn(True, SESSION)), media_type="application/json")
    _set_cookie(response, secret, SESSION, operator, request)
    return response


async def signout(operator: Operator, request: RestRequest) -> Response:
    secret = request.http.cookies.get(COOKIE)
    if secret:
        _check_page(operator, request)
        if await operator.keys.sign_out(secret):
            await operator.audit.note("sign out")
    response = Response(msgspec.json.encode(SignedIn(False)), media_type="application/json")
    _set_cookie(response, "", 0, operator, request)
    return response


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
