"""Callers: ask bots over HTTP, many at a time, on lines that are kept.

One limit holds for the whole call: waiting for a turn, looking up, connecting, TLS, every redirect and the last byte.
A line that was kept may be dead when it is used; if nothing came back on it, or nothing but that there was no request, the call
is made once more on a new one.
"""

import asyncio
import ssl
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

import structlog

from botdrome.server import metrics
from botdrome.server.calling.answer import Answer, CallFailed, NotAllowed, TooLate, too_late
from botdrome.server.calling.carriers import SCHEME, Carriers
from botdrome.server.calling.fence import ALLOWING, Fence
from botdrome.server.calling.line import Line, Misread, Reply, Silent
from botdrome.server.calling.looking_up import AddressBook, Lookup, ask_the_system
from botdrome.server.calling.place import Place, Places
from botdrome.server.calling.pool import Pool
from botdrome.server.calling.request import Headers, Request, checked
from botdrome.server.calling.target import Target, led_on, target_of
from botdrome.server.calling.unpacking import unpacked
from botdrome.server.network.rate_limit import Bucket
from botdrome.server.settings import Settings

log = structlog.get_logger()

MOST_REDIRECTS = 20
SILENT_FOR = 1.0
"""Seconds without an answer on a new line, after which lines that are kept to the same place are given up."""
LOGS_RATE, LOGS_BURST = 1 / 60, 10
"""Refused addresses that are logged a second, in the long run, and at once."""
REDIRECTS = {301, 302, 303, 307, 308}


class Callers:
    def __init__(self, settings: Settings, lookup: Lookup = ask_the_system) -> None:
        """BadSetting where the configuration cannot be read."""
        self.carriers = Carriers(settings)
        self.playing: Counter[str] = Counter()
        """The matches for which bots are being called, by their names."""
        self._fence = Fence(settings)
        self._longest = settings.longest_message
        self._book = AddressBook(self._fence, Places(settings), lookup)
        self._pool = Pool(settings)
        self._logged = Bucket(LOGS_RATE, LOGS_BURST)
        self._loop = asyncio.get_running_loop()

    def post(
        self,
        url: str,
        body: bytes,
        limit_seconds: float,
        headers: Mapping[str, str] | None = None,
        redirects: int = MOST_REDIRECTS,
        tail: bytes = b"",
    ) -> Coroutine[Any, Any, Answer]:
        """The answer, whatever its status; CallFailed with words for the bot's author where there is none.

        `tail` is the rest of the body, where it is large and not for this call alone.
        `connect:NAME` goes to the bot of that name over the line that `botdrome connect` keeps to this server."""
        if url.startswith(SCHEME):
            return self.carriers.post(url, body + tail, limit_seconds, headers or {})
        return self._post(url, body, tail, limit_seconds, checked(headers) if headers else (), redirects)

    async def _post(self, url: str, body: bytes, tail: bytes, limit_seconds: float, headers: Headers, redirects: int) -> Answer:
        """The hot path: where a kept line and a turn are free, nothing is waited for but the reply, and little is done."""
        until = self._loop.time() + limit_seconds
        reply = line = None
        try:
            request = Request("POST", target_of(url), body, headers, tail)
            places = self._book.at_hand(request.target)
            if places and (line := places[0].free_line()):
                try:
                    reply = await line.ask(request.written(), until, request.tail)
                except Silent:
                    pass
                except Misread:
                    places[0].keep_none()
                finally:
                    self._pool.put_back(line, places[0])
                    places[0].leave()
            if reply is None:
                reply = await self._reply(request, until, line is not None)
            if reply.status in REDIRECTS and redirects:
                reply = await self._followed(request, reply, until, redirects)
            return Answer(reply.status, unpacked(reply.body, reply.encoding, self._longest) if reply.encoding else reply.body)
        except (CallFailed, TimeoutError) as problem:
            if isinstance(problem, NotAllowed) and self._logged.take():
                log.warning("a bot may not be called", why=str(problem))
            raise _counted(problem, limit_seconds) from None

    def listen_on(self, ports: Iterable[int]) -> None:
        """These are the server's own: it does not call itself."""
        self._fence.own_ports |= frozenset(ports)
        self._book.forget()

    def refuse_banned(self, banned: Callable[[str], bool]) -> None:
        """No bot is called at an address for which this holds."""
        self._fence.banned = banned

    def close(self) -> None:
        self._pool.close()
        self.carriers.close()

    async def _followed(self, request: Request, reply: Reply, until: float, redirects: int) -> Reply:
        """To the end of the redirects. Each is checked like the address that was typed in."""
        for _ in range(redirects):
            if reply.location is None:
                raise CallFailed("the answer is a redirect that leads nowhere")
            try:
                request = request.led_on(reply.status, led_on(request.target, reply.location))
                reply = await self._reply(request, until)
            except CallFailed as problem:
                raise _without_location(problem) from None
            if reply.status not in REDIRECTS:
                return reply
        raise CallFailed(f"there are more than {redirects} redirects")

    async def _reply(self, request: Request, until: float, fresh: bool = False) -> Reply:
        """`fresh`: not on a line that was kept."""
        async with asyncio.timeout_at(until):
            return await self._reply_in_turn(request, until, fresh)

    async def _reply_in_turn(self, request: Request, until: float, fresh: bool) -> Reply:
        """From the first of the addresses that can be reached."""
        problem: CallFailed = CallFailed(f"there is no host {request.target.host}")
        for place in await self._book.find(request.target):
            await place.enter()
            try:
                reply = await self._reply_from(place, request, until, fresh)
            except Unreachable as failure:
                problem = failure
            else:
                self._book.prefer(request.target, place)
                return reply
            finally:
                place.leave()
        raise problem

    async def _reply_from(self, place: Place, request: Request, until: float, fresh: bool) -> Reply:
        line = None if fresh else place.kept()
        if line is not None:
            try:
                return await self._talk(line, place, request, until)
            except Silent:
                pass
            except Misread:
                place.keep_none()
        line = await self._opened(place, request.target)
        timer = Repeated(SILENT_FOR, place.make_way)
        try:
            return await self._talk(line, place, request, until)
        finally:
            timer.cancel()

    async def _talk(self, line: Line, place: Place, request: Request, until: float) -> Reply:
        try:
            return await line.ask(request.written(), until, request.tail)
        finally:
            self._pool.put_back(line, place)

    async def _opened(self, place: Place, target: Target) -> Line:
        try:
            return await self._pool.open(place)
        except ssl.SSLCertVerificationError as error:
            raise CallFailed(f"the certificate of {target.host} is not trusted: {error.verify_message}") from None
        except ssl.SSLError as error:
            raise CallFailed(f"{target.place} does not speak TLS: {error.reason}") from None
        except ConnectionRefusedError:
            raise Unreachable(f"{target.place} refused the connection") from None
        except OSError as error:
            raise Unreachable(f"{target.place} cannot be reached: {error.strerror or error}") from None


def _without_location(problem: CallFailed) -> CallFailed:
    """The same problem in words that do not tell where a redirect leads: any service on this machine may have answered it."""
    if isinstance(problem, NotAllowed):
        return NotAllowed(f"the redirect leads to an address that may not be called; {ALLOWING}")
    return problem if isinstance(problem, TooLate) else CallFailed("the redirect leads to an address that does not answer")


def _counted(problem: CallFailed | TimeoutError, limit_seconds: float) -> CallFailed:
    """The problem in its own words."""
    late = isinstance(problem, TooLate | TimeoutError)
    metrics.CALLS_FAILED.labels("late" if late else "not allowed" if isinstance(problem, NotAllowed) else "failed").inc()
    return too_late(limit_seconds) if isinstance(problem, TooLate | TimeoutError) else problem


class Repeated:
    """Does something again and again until it is cancelled."""

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
    """No connection came about: another address of the same host may do."""
