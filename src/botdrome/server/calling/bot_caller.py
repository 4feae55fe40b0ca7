"""The bot caller: HTTP calls to bots, many at a time, on pooled connections.

One time limit holds for the whole call: waiting in a queue, DNS, connecting, TLS, every redirect and the last byte.
An idle connection may be dead when it is used. If the bot sends nothing on it, or an answer to a request that was never made,
the call is repeated once on a new connection.
"""

import asyncio
import ssl
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

import structlog

from botdrome.server import metrics
from botdrome.server.calling.address_filter import ALLOWING, AddressFilter
from botdrome.server.calling.answer import BotAnswer, CallFailed, NotAllowed, TooLate, decompressed, too_late
from botdrome.server.calling.bot_connection import BotConnection, Misread, Silent
from botdrome.server.calling.connection_pool import BotEndpoint, ConnectionPool
from botdrome.server.calling.request import BotRequest, Headers, Target, checked, redirect_target, target_of
from botdrome.server.calling.resolver import Lookup, Resolver, system_lookup
from botdrome.server.calling.tunnels import SCHEME, Tunnels
from botdrome.server.network.rate_limit import Bucket
from botdrome.server.settings import Settings

log = structlog.get_logger()

MOST_REDIRECTS = 20
SILENT_FOR = 1.0
"""Seconds without an answer on a new connection, after which the idle ones to the same endpoint are closed."""
LOGS_RATE, LOGS_BURST = 1 / 60, 10
"""Log lines about refused addresses: per second in the long run, and at once."""
REDIRECTS = {301, 302, 303, 307, 308}


class BotCaller:
    def __init__(self, settings: Settings, lookup: Lookup = system_lookup) -> None:
        """Raise BadSetting if the configuration is invalid."""
        self.tunnels = Tunnels(settings)
        self.playing: Counter[str] = Counter()
        """Matches that each bot plays, by its name."""
        self._filter, self._pool = AddressFilter(settings), ConnectionPool(settings)
        self._resolver = Resolver(self._filter, self._pool, lookup)
        self._longest = settings.message.longest
        self._logged = Bucket(LOGS_RATE, LOGS_BURST)
        self._loop = asyncio.get_running_loop()

    def post(
        self,
        url: str,
        body: bytes,
        limit_seconds: float,
        headers: Mapping[str, str] | None = None,
        tail: bytes = b"",
    ) -> Coroutine[Any, Any, BotAnswer]:
        """Return the answer with any status. Raise CallFailed, with a text for the bot's author, if there is none.

        `tail` is the rest of a large body that several bots share.
        A call to `connect:NAME` goes through the tunnel of that bot (`botdrome connect`).
        """
        if url.startswith(SCHEME):
            return self.tunnels.post(url, body + tail, limit_seconds, headers or {})
        return self._post(url, body, tail, limit_seconds, checked(headers) if headers else ())

    async def _post(self, url: str, body: bytes, tail: bytes, limit_seconds: float, headers: Headers) -> BotAnswer:
        """The hot path: with an idle connection and below the call limits, it waits for the answer only."""
        until = self._loop.time() + limit_seconds
        answer = connection = None
        try:
            request = BotRequest("POST", target_of(url), body, headers, tail)
            endpoints = self._resolver.cached(request.target)
            if endpoints and (connection := endpoints[0].acquire_idle()):
                try:
                    answer = await connection.ask(request.encoded(), until, request.tail)
                except Silent:
                    pass
                except Misread:
                    endpoints[0].stop_keep_alive()
                finally:
                    self._pool.put_back(connection, endpoints[0])
                    endpoints[0].release()
            if answer is None:
                answer = await self._answer(request, until, connection is not None)
            if answer.status in REDIRECTS:
                answer = await self._follow(request, answer, until)
            return decompressed(answer, self._longest) if answer.encoding else answer
        except (CallFailed, TimeoutError) as problem:
            if isinstance(problem, NotAllowed) and self._logged.take():
                log.warning("a bot may not be called", why=str(problem))
            raise _counted(problem, limit_seconds) from None

    def listen_on(self, ports: Iterable[int]) -> None:
        """These ports are the server's own: it does not call itself."""
        self._filter.own_ports |= frozenset(ports)
        self._resolver.clear_cache()

    def refuse_banned(self, banned: Callable[[str], bool]) -> None:
        self._filter.banned = banned

    def close(self) -> None:
        self._pool.close()
        self.tunnels.close()

    async def _follow(self, request: BotRequest, answer: BotAnswer, until: float) -> BotAnswer:
        """Follow redirects. The target of each is checked like the URL that was typed in."""
        for _ in range(MOST_REDIRECTS):
            if answer.location is None:
                raise CallFailed("the answer is a redirect that leads nowhere")
            try:
                request = request.redirected(answer.status, redirect_target(request.target, answer.location))
                answer = await self._answer(request, until)
            except CallFailed as problem:
                raise _without_location(problem) from None
            if answer.status not in REDIRECTS:
                return answer
        raise CallFailed(f"there are more than {MOST_REDIRECTS} redirects")

    async def _answer(self, request: BotRequest, until: float, fresh: bool = False) -> BotAnswer:
        """`fresh`: on a new connection."""
        async with asyncio.timeout_at(until):
            return await self._first_answer(request, until, fresh)

    async def _first_answer(self, request: BotRequest, until: float, fresh: bool) -> BotAnswer:
        """From the first endpoint that can be reached."""
        waited, problem = 0.0, CallFailed(f"there is no host {request.target.host}")
        for endpoint in await self._resolver.resolve(request.target):
            began = self._loop.time()
            await endpoint.acquire()
            waited += self._loop.time() - began
            try:
                answer = await self._answer_from(endpoint, request, until, fresh)
            except Unreachable as failure:
                problem = failure
            else:
                self._resolver.prefer(request.target, endpoint)
                answer.waited = waited
                return answer
            finally:
                endpoint.release()
        raise problem

    async def _answer_from(self, endpoint: BotEndpoint, request: BotRequest, until: float, fresh: bool) -> BotAnswer:
        connection = None if fresh else endpoint.pop_idle()
        if connection is not None:
            try:
                return await self._ask(connection, endpoint, request, until)
            except Silent:
                pass
            except Misread:
                endpoint.stop_keep_alive()
        connection = await self._connect(endpoint, request.target)
        timer = RepeatingTimer(SILENT_FOR, endpoint.close_idle)
        try:
            return await self._ask(connection, endpoint, request, until)
        finally:
            timer.cancel()

    async def _ask(self, connection: BotConnection, endpoint: BotEndpoint, request: BotRequest, until: float) -> BotAnswer:
        try:
            return await connection.ask(request.encoded(), until, request.tail)
        finally:
            self._pool.put_back(connection, endpoint)

    async def _connect(self, endpoint: BotEndpoint, target: Target) -> BotConnection:
        try:
            return await self._pool.connect(endpoint)
        except ssl.SSLCertVerificationError as error:
            raise CallFailed(f"the certificate of {target.host} is not trusted: {error.verify_message}") from None
        except ssl.SSLError as error:
            raise CallFailed(f"{target.host_header} does not speak TLS: {error.reason}") from None
        except ConnectionRefusedError:
            raise Unreachable(f"{target.host_header} refused the connection") from None
        except OSError as error:
            raise Unreachable(f"{target.host_header} cannot be reached: {error.strerror or error}") from None


def _without_location(problem: CallFailed) -> CallFailed:
    """The problem in words that hide the target of a redirect, since any service on this machine may have sent it."""
    if isinstance(problem, NotAllowed):
        return NotAllowed(f"the redirect leads to an address that may not be called; {ALLOWING}")
    return problem if isinstance(problem, TooLate) else CallFailed("the redirect leads to an address that does not answer")


def _counted(problem: CallFailed | TimeoutError, limit_seconds: float) -> CallFailed:
    """Count the failure, and give it its text."""
    late = isinstance(problem, TooLate | TimeoutError)
    metrics.CALLS_FAILED.labels("late" if late else "not allowed" if isinstance(problem, NotAllowed) else "failed").inc()
    return too_late(limit_seconds) if isinstance(problem, TooLate | TimeoutError) else problem


class RepeatingTimer:
    """Calls `work` at intervals until it is cancelled."""

    __slots__ = ("_seconds", "_timer", "_work")

    def __init__(self, seconds: float, work: Callable[[], None]) -> None:
        self._seconds, self._work = seconds, work
        self._timer = asyncio.get_running_loop().call_later(seconds, self._ring)

    def _ring(self) -> None:
        self._work()
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._ring)

    def cancel(self) -> None:
        self._timer.cancel()


class Unreachable(CallFailed):
    """No connection to this address; another address of the host may work."""
