"""The operator's session: signing in and out, and who is let through."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

import msgspec
from starlette.responses import Response

from botdrome.api.bodies import bearer
from botdrome.api.problems import Problem
from botdrome.api.rest.endpoint import Asked
from botdrome.api.rest.operator_answers import SignedIn, SignIn
from botdrome.server.operator.keys import SESSION, NotOperator
from botdrome.server.operator.operator import Operator

COOKIE = "botdrome_operator"
OURS = ("same-origin", "none")
"""Where browsers say that a request of our own pages comes from. Pages at other ports of this host send our cookies, too."""

Act = Callable[[Operator, Asked], Awaitable[Any]]


def private(act: Act) -> Act:
    """For the operator alone."""

    @wraps(act)
    async def checked(operator: Operator, asked: Asked) -> Any:
        await seconds_left(operator, asked)
        return await act(operator, asked)

    return checked


async def seconds_left(operator: Operator, asked: Asked) -> float | None:
    """Of the session; None: the token came with the request. Problem if neither did."""
    token = bearer(asked.request.headers.get("authorization", ""))
    secret = asked.request.cookies.get(COOKIE)
    try:
        if token is not None:
            await operator.keys.check(token)
            return None
        if not secret:
            raise NotOperator("sign in with the operator's token, or send Authorization: Bearer TOKEN")
        _check_page(asked)
        return await operator.keys.check_session(secret)
    except NotOperator as problem:
        raise Problem(str(problem), 401, {"www-authenticate": "Bearer"}) from None


def _check_page(asked: Asked) -> None:
    """Problem if a page of another origin asks, even if it only reads: it could read the answer, too."""
    if asked.request.headers.get("sec-fetch-site", "none") not in OURS:
        raise Problem("only pages of this server may do this with the operator's session", 403)


async def json_body(asked: Asked, kind: Any) -> Any:
    """No form of another page is a body of ours."""
    media = asked.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json":
        raise Problem(f"the body has the content type application/json, not {media!r}", 415)
    return await asked.body(kind)


async def signin(operator: Operator, asked: Asked) -> Response:
    given: SignIn = await json_body(asked, SignIn)
    try:
        secret = await operator.keys.sign_in(given.token)
    except NotOperator as problem:
        raise Problem(str(problem), 401) from None
    await operator.audit.note("sign in")
    response = Response(msgspec.json.encode(SignedIn(True, SESSION)), media_type="application/json")
    _set_cookie(response, secret, SESSION, operator, asked)
    return response


async def signout(operator: Operator, asked: Asked) -> Response:
    secret = asked.request.cookies.get(COOKIE)
    if secret:
        _check_page(asked)
        if operator.keys.sign_out(secret):
            await operator.audit.note("sign out")
    response = Response(msgspec.json.encode(SignedIn(False)), media_type="application/json")
    _set_cookie(response, "", 0, operator, asked)
    return response


async def session(operator: Operator, asked: Asked) -> SignedIn:
    return SignedIn(True, await seconds_left(operator, asked))


def _set_cookie(response: Response, secret: str, seconds: int, operator: Operator, asked: Asked) -> None:
    """A page that came by TLS, perhaps through a proxy, says so in its origin."""
    secure = operator.secure or asked.request.headers.get("origin", "").startswith("https://")
    response.set_cookie(COOKIE, secret, max_age=seconds, path="/", secure=secure, httponly=True, samesite="strict")
