"""The bot caller: HTTP calls to bots, many at a time, on pooled connections.

One time limit holds for the whole call: waiting in a queue, DNS, connecting, TLS, every redirect
and the last byte. An idle connection may be dead when it is used. If the bot sends nothing on it,
or an answer to a request that was never made, the call is repeated once on a new connection.
"""

import asyncio
import socket
import ssl
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from functools import cached_property, partial
from typing import Any
from weakref import WeakValueDictionary

import structlog

from botdrome.server import metrics
from botdrome.server.calling.address_filter import (
    ALLOWING,
    POSTED,
    Address,
    AddressFilter,
    BotRequest,
    Target,
    checked,
    plain_address,
    redirect_target,
    target_of,
)
from botdrome.server.calling.bot_connection import (
    BotAnswer,
    BotConnection,
    CallFailed,
    Misread,
    NotAllowed,
    Outcome,
    Silent,
    TooLate,
    decompressed,
    too_late,
)
from botdrome.server.calling.tunnels import SCHEME, Tunnels
from botdrome.server.network.connection import source_of
from botdrome.server.network.limits import Bucket
from botdrome.server.settings import BadSetting, Settings

# The connection pool: keep-alive connections to each endpoint, and limits on the number of
# concurrent calls.

MOST_WAITING = 10_000
IDLE_TIMEOUT = 10.0
"""Seconds that an idle connection is kept at least; twice as long at most."""
NO_KEEP_ALIVE = 60.0
"""Seconds without keep-alive at an endpoint that failed on an idle connection."""


class CallLimit:
    """A limit on concurrent calls. Further calls wait in a queue."""

    __slots__ = ("__weakref__", "most", "running", "waiting")

    def __init__(self, most: int) -> None:
        self.most, self.running = most, 0
        self.waiting: deque[asyncio.Future[None]] = deque()

    async def acquire(self) -> None:
        if self.running < self.most:
            self.running += 1
            return
        if len(self.waiting) >= MOST_WAITING:
            raise CallFailed("too many calls wait for that host")
        turn = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                self.release()
            raise

    def release(self) -> None:
        """The call that waited longest runs next."""
        waiting = self.waiting
        while waiting:
            turn = waiting.popleft()
            if not turn.done():
                return turn.set_result(None)
        self.running -= 1
        return None


class BotEndpoint:
    """One port of one address that passed the address filter, with its idle connections and call
    limits.
    """

    def __init__(
        self,
        address: str,
        port: int,
        name: str,
        limits: tuple[CallLimit, CallLimit],
        pool: "ConnectionPool",
    ) -> None:
        """`name` is the one on the certificate; empty: no TLS."""
        self.address, self.port, self.name, self._pool = address, port, name, pool
        self.idle: list[BotConnection] = []
        self.keep_alive = True
        self._port_limit, self._host_limit = limits

    def acquire_idle(self) -> BotConnection | None:
        """An idle connection, if a call can start at once; it then counts as running."""
        idle, port, host = self.idle, self._port_limit, self._host_limit
        if not idle or port.running >= port.most or host.running >= host.most:
            return None
        connection = idle.pop() if idle[-1].usable else self.pop_idle()
        if connection is None:
            return None
        port.running += 1
        host.running += 1
        return connection

    def pop_idle(self) -> BotConnection | None:
        """The connection that was used last."""
        idle = self.idle
        while idle:
            connection = idle.pop()
            if connection.usable:
                return connection
        return None

    def close_idle(self) -> None:
        """A new connection gets no answer: a bot with one thread may be waiting for more on an idle
        connection.
        """
        if self.idle:
            self.stop_keep_alive()

    def stop_keep_alive(self) -> None:
        idle, self.idle = self.idle, []
        for connection in idle:
            connection.abort()
        if self.keep_alive:
            self.keep_alive = False
            asyncio.get_running_loop().call_later(NO_KEEP_ALIVE, self._resume_keep_alive)

    def _resume_keep_alive(self) -> None:
        self.keep_alive = True

    async def acquire(self) -> None:
        await self._port_limit.acquire()
        try:
            await self._host_limit.acquire()
        except BaseException:
            self._port_limit.release()
            raise

    def release(self) -> None:
        self._port_limit.release()
        self._host_limit.release()

    def finish(self, connection: BotConnection) -> None:
        """End a call on a connection of `acquire_idle`."""
        self.put_back(connection)
        port, host = self._port_limit, self._host_limit
        if port.waiting or host.waiting:
            self.release()
        else:  # nearly always
            port.running -= 1
            host.running -= 1

    def put_back(self, connection: BotConnection) -> None:
        """After a call: keep the connection for the next one, or close it."""
        if connection.usable and self.keep_alive and not self._pool.closed:
            connection.round = self._pool.round
            self.idle.append(connection)
        else:
            connection.abort()


class ConnectionPool:
    def __init__(self, settings: Settings) -> None:
        """Raise BadSetting if the trusted certificates cannot be read."""
        self._settings = settings
        self._endpoints: WeakValueDictionary[tuple[str, int, str], BotEndpoint] = (
            WeakValueDictionary()
        )
        self._limits: WeakValueDictionary[tuple[str, int], CallLimit] = WeakValueDictionary()
        self._connections: dict[BotConnection, BotEndpoint] = {}
        self.round = 0
        """The number of sweeps so far."""
        self._sweep: asyncio.TimerHandle | None = None
        self.closed = False
        try:
            _ = settings.calls.ca and self._tls
        except OSError as error:
            raise BadSetting(f"calls.ca: {error}") from None

    def endpoint(self, address: str, port: int, name: str) -> BotEndpoint:
        """An endpoint exists as long as something refers to it."""
        found = self._endpoints.get((address, port, name))
        if found is None:
            limits = (
                self._limit(address, port, self._settings.calls.per_port),
                self._limit(address, 0, self._settings.calls.per_host),
            )
            found = BotEndpoint(address, port, name, limits, self)
            self._endpoints[address, port, name] = found
        return found

    def _limit(self, address: str, port: int, most: int) -> CallLimit:
        limit = self._limits.get((address, port))
        if limit is None:
            limit = self._limits[address, port] = CallLimit(most)
        return limit

    async def connect(self, endpoint: BotEndpoint) -> BotConnection:
        """A new connection to exactly this address, or OSError."""
        loop = asyncio.get_running_loop()
        connection = BotConnection(self._settings.message.longest, self._forget)
        tls, began = self._tls if endpoint.name else None, loop.time()
        transport, _ = await loop.create_connection(
            lambda: connection,
            endpoint.address,
            endpoint.port,
            ssl=tls,
            server_hostname=endpoint.name or None,
        )
        if not source_of(endpoint.address)[1]:
            connection.connecting = loop.time() - began
        self._connections[connection] = endpoint
        if self._sweep is None:
            self._sweep = loop.call_later(IDLE_TIMEOUT, self._close_idle)
        if transport.get_extra_info("peername")[0].partition("%")[0] != endpoint.address:
            connection.abort()
            raise CallFailed("the connection went astray")
        return connection

    def close(self) -> None:
        self.closed = True
        if self._sweep is not None:
            self._sweep.cancel()
        for connection in tuple(self._connections):
            connection.abort()

    def _forget(self, connection: BotConnection) -> None:
        endpoint = self._connections.pop(connection, None)
        if endpoint is not None and connection in endpoint.idle:
            endpoint.idle.remove(connection)

    def _close_idle(self) -> None:
        """Close the connections that were not used since the last round."""
        for connection, endpoint in tuple(self._connections.items()):
            if connection.round < self.round and connection in endpoint.idle:
                endpoint.idle.remove(connection)
                connection.abort()
        self.round += 1
        self._sweep = (
            asyncio.get_running_loop().call_later(IDLE_TIMEOUT, self._close_idle)
            if self._connections
            else None
        )

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        if self._settings.calls.ca:
            context.load_verify_locations(self._settings.calls.ca)
        return context


# The resolver: from a host name to the endpoints that the address filter allows. Only resolved
# addresses are called.

CACHE_SECONDS = 30.0
MOST_CACHED = 4000
MOST_LOOKUPS = 32
LOCALHOST = ("127.0.0.1", "::1")

Lookup = Callable[[str], Awaitable[list[str]]]


async def system_lookup(host: str) -> list[str]:
    """The addresses of a host; empty if it is unknown."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Resolver:
    def __init__(self, address_filter: AddressFilter, pool: ConnectionPool, lookup: Lookup) -> None:
        self._filter, self._pool, self._lookup = address_filter, pool, lookup
        self.cache: dict[tuple[str, str, int] | None, tuple[float, list[BotEndpoint]]] = {}
        """By origin, with the time until when they are valid."""
        self._pending: dict[str, asyncio.Future[list[Address]]] = {}
        self._loop = asyncio.get_running_loop()

    def cached(self, target: Target, now: float) -> list[BotEndpoint] | None:
        known = self.cache.get(target.origin)
        return known[1] if known is not None and known[0] > now else None

    async def resolve(self, target: Target) -> list[BotEndpoint]:
        """Raise NotAllowed if the filter allows no address of the host."""
        endpoints = self.cached(target, self._loop.time())
        if endpoints is None:
            found = [target.address] if target.address else await self._addresses(target.host)
            endpoints = self._allowed(found, target)
            if len(self.cache) >= MOST_CACHED:
                self.cache.clear()
            self.cache[target.origin] = self._loop.time() + CACHE_SECONDS, endpoints
        return endpoints

    def prefer(self, target: Target, endpoint: BotEndpoint) -> None:
        """Try the endpoint that answered first from now on."""
        known = self.cache.get(target.origin)
        if known is not None and known[1][0] != endpoint:
            known[1].sort(key=lambda other: other != endpoint)

    def clear_cache(self) -> None:
        self.cache.clear()

    def _allowed(self, addresses: list[Address], target: Target) -> list[BotEndpoint]:
        refusal, endpoints = CallFailed(f"there is no host {target.host}"), []
        self._filter.check_port(target.port)
        for address in addresses:
            try:
                self._filter.check(address, target.host, target.port)
            except NotAllowed as problem:
                refusal = problem
            else:
                endpoints.append(
                    self._pool.endpoint(
                        str(address), target.port, target.host if target.tls else ""
                    )
                )
        if not endpoints:
            raise refusal
        return endpoints

    async def _addresses(self, host: str) -> list[Address]:
        """Concurrent calls to one host share a lookup."""
        pending = self._pending.get(host)
        if pending is None:
            if len(self._pending) >= MOST_LOOKUPS:
                raise CallFailed("too many hosts are being looked up")
            pending = self._pending[host] = asyncio.ensure_future(self._look_up(host))
            pending.add_done_callback(lambda _: self._pending.pop(host, None))
        return await asyncio.shield(pending)

    async def _look_up(self, host: str) -> list[Address]:
        local = host == "localhost" or host.endswith(".localhost")
        return [plain_address(text) for text in (LOCALHOST if local else await self._lookup(host))]


log = structlog.get_logger()

MOST_REDIRECTS = 20
SILENT_FOR = 1.0
"""Seconds without an answer on a new connection, after which the idle ones to the same endpoint are
closed.
"""
LOGS_RATE, LOGS_BURST = 1 / 60, 10
"""Log lines about refused addresses: per second in the long run, and at once."""
REDIRECTS = {301, 302, 303, 307, 308}


class BotCalls:
    """Calls to one URL, one after another."""

    __slots__ = (
        "_connection", "_endpoint", "_endpoints", "_go_on", "_head", "_loop", "_origin",
        "_task", "_tell", "body", "fields", "follow", "headers", "limit", "tail", "until", "url",
    )  # fmt: skip

    def __init__(
        self,
        resolver: "Resolver",
        go_on: "Callable[[BotCalls, Outcome | None], Coroutine[Any, Any, BotAnswer]]",
        url: str,
        limit_seconds: float,
        tell: Callable[[Outcome], None],
        headers: Mapping[str, str] | None = None,
        follow: bool = True,
    ) -> None:
        """`tell` takes the outcome of each call, unless the call is cancelled before.

        `go_on` makes a call, or the rest of it, given the outcome on an idle connection. `follow`:
        follow redirects.
        """
        self.url, self.limit, self.headers, self.follow = url, limit_seconds, headers, follow
        self.fields = checked(headers) if headers else ()
        self.body = self.tail = b""
        self.until = 0.0
        self._tell, self._go_on, self._loop = tell, go_on, asyncio.get_running_loop()
        target = None if url.startswith(SCHEME) else allowed_target(url)
        self._origin = None if target is None else target.origin
        self._head = b"" if target is None else BotRequest("POST", target, b"", self.fields).head
        self._endpoints = resolver.cache
        self._connection: BotConnection | None = None
        """The idle connection on which the request was sent."""
        self._endpoint: BotEndpoint | None = None
        self._task: asyncio.Task[BotAnswer] | None = None

    def ask(self, body: bytes, tail: bytes = b"") -> None:
        """Start a call, instead of one that is under way.

        With an idle connection and below the call limits, the request is sent at once. `tail` is
        the rest of a large body that several bots share.
        """
        if self._connection is not None or self._task is not None:
            self.cancel()
        now = self._loop.time()
        until = self.until = now + self.limit
        self.body, self.tail = body, tail
        known = self._endpoints.get(self._origin)
        if known is None or known[0] <= now:
            return self._wait()
        endpoint = self._endpoint = known[1][0]
        connection = self._connection = endpoint.acquire_idle()
        if connection is None:
            return self._wait()
        request = POSTED % (self._head, len(body) + len(tail), body)
        return connection.ask(request, now, until, self._hear, tail)

    def _hear(self, outcome: Outcome) -> None:
        """Take the outcome on an idle connection, which nearly always is that of the call."""
        connection, endpoint, self._connection = self._connection, self._endpoint, None
        assert connection is not None and endpoint is not None
        endpoint.finish(connection)
        if (
            isinstance(outcome, BotAnswer)
            and not outcome.encoding
            and outcome.status not in REDIRECTS
        ):
            return self._tell(outcome)
        if isinstance(outcome, Misread):
            endpoint.stop_keep_alive()
        return self._wait(outcome)

    def _wait(self, outcome: Outcome | None = None) -> None:
        self._task = self._loop.create_task(self._go_on(self, outcome))
        self._task.add_done_callback(self._waited)

    def _waited(self, task: asyncio.Task[BotAnswer]) -> None:
        if task is not self._task or task.cancelled():
            return None
        self._task, problem = None, task.exception()
        if problem is None:
            return self._tell(task.result())
        if not isinstance(problem, CallFailed):
            log.error("a call failed", exc_info=problem)
            problem = CallFailed("the server could not make the call")
        return self._tell(problem)

    def cancel(self) -> None:
        """Stop the present call, if there is one."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
        if self._connection is not None and self._endpoint is not None:
            self._connection.abort()
            self._connection = None
            self._endpoint.release()


def allowed_target(url: str) -> Target | None:
    """Return the target of a URL; None: it is malformed or ambiguous."""
    try:
        return target_of(url)
    except NotAllowed:
        return None


def _settle(waiter: asyncio.Future[BotAnswer], outcome: Outcome) -> None:
    if waiter.done():
        return
    if isinstance(outcome, BotAnswer):
        waiter.set_result(outcome)
    else:
        waiter.set_exception(outcome)


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

    async def post(
        self,
        url: str,
        body: bytes,
        limit_seconds: float,
        headers: Mapping[str, str] | None = None,
        tail: bytes = b"",
        follow: bool = True,
    ) -> BotAnswer:
        """Return the answer with any status. `follow`: follow redirects.

        Raise CallFailed, with a text for the bot's author, if there is none.
        """
        waiter: asyncio.Future[BotAnswer] = self._loop.create_future()
        call = self.calls(url, limit_seconds, partial(_settle, waiter), headers, follow)
        call.ask(body, tail)
        try:
            return await waiter
        finally:
            call.cancel()

    def calls(
        self,
        url: str,
        limit_seconds: float,
        tell: Callable[[Outcome], None],
        headers: Mapping[str, str] | None = None,
        follow: bool = True,
    ) -> BotCalls:
        """Calls to a URL, of which `tell` gets the answer or CallFailed.

        A call to `connect:NAME` goes through the tunnel of that bot (`botdrome connect`).
        """
        return BotCalls(self._resolver, self._post, url, limit_seconds, tell, headers, follow)

    async def _post(self, call: BotCalls, outcome: Outcome | None) -> BotAnswer:
        """Return the answer, given the outcome of the call on an idle connection, if there was
        one.
        """
        url, until, limit_seconds = call.url, call.until, call.limit
        if url.startswith(SCHEME):
            body = call.body + call.tail
            return await self.tunnels.post(url, body, limit_seconds, call.headers or {})
        try:
            request = BotRequest("POST", target_of(url), call.body, call.fields, call.tail)
            if outcome is None or isinstance(outcome, Silent | Misread):
                outcome = await self._answer(request, until, outcome is not None)
            if isinstance(outcome, CallFailed):
                raise outcome
            if call.follow and outcome.status in REDIRECTS:
                outcome = await self._follow(request, outcome, until)
            return decompressed(outcome, self._longest) if outcome.encoding else outcome
        except (CallFailed, TimeoutError) as problem:
            if isinstance(problem, NotAllowed) and self._logged.take():
                log.warning("a bot may not be called", why=str(problem))
            raise _counted(problem, limit_seconds) from None

    async def check(self, url: str) -> None:
        """Raise CallFailed if this URL may not be called, or has no host."""
        await self._resolver.resolve(target_of(url))

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
                request = request.redirected(
                    answer.status, redirect_target(request.target, answer.location)
                )
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

    async def _answer_from(
        self, endpoint: BotEndpoint, request: BotRequest, until: float, fresh: bool
    ) -> BotAnswer:
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

    async def _ask(
        self, connection: BotConnection, endpoint: BotEndpoint, request: BotRequest, until: float
    ) -> BotAnswer:
        waiter: asyncio.Future[BotAnswer] = self._loop.create_future()
        settle = partial(_settle, waiter)
        connection.ask(request.encoded(), self._loop.time(), until, settle, request.tail)
        try:
            return await waiter
        finally:
            endpoint.put_back(connection)

    async def _connect(self, endpoint: BotEndpoint, target: Target) -> BotConnection:
        try:
            return await self._pool.connect(endpoint)
        except ssl.SSLCertVerificationError as error:
            raise CallFailed(
                f"the certificate of {target.host} is not trusted: {error.verify_message}"
            ) from None
        except ssl.SSLError as error:
            raise CallFailed(f"{target.host_header} does not speak TLS: {error.reason}") from None
        except ConnectionRefusedError:
            raise Unreachable(f"{target.host_header} refused the connection") from None
        except OSError as error:
            raise Unreachable(
                f"{target.host_header} cannot be reached: {error.strerror or error}"
            ) from None


def _without_location(problem: CallFailed) -> CallFailed:
    """The problem in words that hide the target of a redirect, since any service on this machine
    may have sent it.
    """
    if isinstance(problem, NotAllowed):
        return NotAllowed(f"the redirect leads to an address that may not be called; {ALLOWING}")
    return (
        problem
        if isinstance(problem, TooLate)
        else CallFailed("the redirect leads to an address that does not answer")
    )


def _counted(problem: CallFailed | TimeoutError, limit_seconds: float) -> CallFailed:
    """Count the failure, and give it its text."""
    late = isinstance(problem, TooLate | TimeoutError)
    metrics.CALLS_FAILED.labels(
        "late" if late else "not allowed" if isinstance(problem, NotAllowed) else "failed"
    ).inc()
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
