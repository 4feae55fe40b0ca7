"""NatsLinks: links over NATS, by the library nats-py. A single server does not import it."""

import asyncio
import ssl
from contextlib import suppress
from functools import partial
from itertools import cycle
from socket import gaierror
from typing import Any, NoReturn
from urllib.parse import quote, unquote, urlsplit

import structlog
from msgspec import Struct
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error, NoRespondersError

from botdrome.server.lobby.desk import Tasks
from botdrome.server.nodes.cluster import NodeId
from botdrome.server.nodes.links import Links, NatsRefused, NatsUnavailable, NotAnswered
from botdrome.server.nodes.membership import Membership
from botdrome.server.settings import BadSetting

log = structlog.get_logger()

PORT = 4222
PATIENCE = 2.0
"""Seconds in which a server has to answer when a client connects."""
SOONEST, LATEST = 0.05, 1.0
"""Seconds before the first and between the last attempts to connect again."""
LOOK = 0.1
"""Seconds between two looks at the connection."""
PINGS = 2
"""Pings, one a second, after which a server that does not answer counts as frozen."""
UNWRITTEN = 16 << 20
"""Bytes that may wait for a server that reads too slowly; more are lost."""
NO_LOGIN = (
    "it takes clients without a login, so any program that reaches it could end matches: "
    "set a login there, or allow this with cluster.open_nats"
)
NO_TLS = "the server asks for no TLS: use nats:// instead of tls://"
LOGIN = "give it as in nats://USER:PASSWORD@HOST:PORT or nats://TOKEN@HOST:PORT"


class NatsAddress(Struct, frozen=True):
    """An address of a NATS server, with the login."""

    host: str
    port: int
    tls: bool = False
    user: str = ""
    password: str = ""
    """Empty: the user is a token."""

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_addresses(urls: str) -> list[NatsAddress]:
    """Read the setting `nats`: URLs separated by commas, all of the same NATS cluster."""
    return [_read_address(url.strip()) for url in urls.split(",")]


def _read_address(url: str) -> NatsAddress:
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("nats", "tls") or not parts.hostname:
            raise ValueError
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        return NatsAddress(
            parts.hostname, parts.port or PORT, parts.scheme == "tls", user, password
        )
    except ValueError:
        raise BadSetting(
            f"nats: expected nats://HOST:PORT or nats://USER:PASSWORD@HOST:PORT, not {url!r}"
        ) from None


class NatsLinks(Links):
    """The links of this node.

    `url` is the setting `nats`; clusters with different names can share a NATS server.

    A NATS that needs no login is refused, unless `open_nats` is true. The library connects once,
    without its own attempts to connect again: those end at the first error of a server.
    """

    def __init__(
        self, url: str, members: Membership, cluster: str, open_nats: bool = False
    ) -> None:
        super().__init__(members)
        self._addresses, self._open_nats = read_addresses(url), open_nats
        self._prefix = f"botdrome.{cluster}"
        self._client: Client | None = None
        self._tasks = Tasks()

    @property
    def connected(self) -> bool:  # type: ignore[override]
        return self._client is not None and self._client.is_connected

    async def open(self) -> None:
        """Connect. Raise NatsUnavailable."""
        problem = NatsUnavailable("no address is set")
        for address in self._addresses:
            try:
                self._client = await self._connect(address)
                break
            except NatsUnavailable as failed:
                problem = failed
        else:
            raise problem
        self.largest = self._client.max_payload
        self._tasks.start(self._keep_connected())

    async def close(self) -> None:
        """Send what waits, and disconnect."""
        await super().close()
        await asyncio.sleep(0)  # what was published a moment ago waits in the library by now
        client, self._client = self._client, None
        self._tasks.cancel()
        if client is not None:
            with suppress(Error, OSError, TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await client.close()
            await _end(client)

    # Messages.

    def _subject(self, to: NodeId | None) -> str:
        if to is None:
            return f"{self._prefix}.all"
        return f"{self._prefix}.node.{quote(to, safe='').replace('.', '%2E')}"

    def _publish(self, to: NodeId | None, data: bytes) -> None:
        client = self._client
        if client is None or not client.is_connected or client.pending_data_size > UNWRITTEN:
            return
        if len(data) > self.largest:
            log.error("a message is larger than NATS allows", bytes=len(data))
            return
        self._tasks.start(self._write(client, self._subject(to), data))

    async def _write(self, client: Client, subject: str, data: bytes) -> None:
        with suppress(Error, OSError):
            await client.publish(subject, data)

    async def ask(self, to: NodeId, question: bytes, seconds: float) -> bytes:
        if (client := self._client) is None or not client.is_connected:
            raise NotAnswered("NATS cannot be reached at present")
        packed = self._packed("", question)
        try:
            return (await client.request(self._subject(to), packed, seconds)).data
        except NoRespondersError:
            raise NotAnswered("it does not listen") from None
        except TimeoutError:
            raise
        except (Error, OSError) as problem:
            raise NotAnswered(str(problem)) from None

    async def _receive(self, message: Msg) -> None:
        if not message.reply:
            self._deliver(message.data)
        elif (question := self._unpacked(message.data)) is not None:
            self._tasks.start(self._reply(message, question.body))

    async def _reply(self, message: Msg, question: bytes) -> None:
        answer = await self.answer(question)
        with suppress(Error, OSError):  # the other node asks again
            await message.respond(answer)

    # The connection.

    async def _keep_connected(self) -> None:
        while True:
            await asyncio.sleep(LOOK)
            if (client := self._client) is None or client.is_connected:
                continue
            reason = str(client.last_error or "it has ended")
            log.warning("there is no connection to NATS: it is tried again", reason=reason)
            await _end(client)
            self._client = await self._connect_again()
            self.largest = self._client.max_payload
            log.info("connected to NATS again")

    async def _connect_again(self) -> Client:
        pause = SOONEST
        for address in cycle(self._addresses):
            await asyncio.sleep(pause)
            pause = min(2 * pause, LATEST)
            try:
                return await self._connect(address)
            except NatsUnavailable as problem:
                log.debug("NATS cannot be reached", problem=str(problem))
        raise AssertionError("it is tried for ever")

    async def _connect(self, address: NatsAddress) -> Client:
        client, problems = Client(), list[Exception]()

        async def failed(problem: Exception) -> None:
            problems.append(problem)

        try:
            async with asyncio.timeout(PATIENCE):
                await client.connect(error_cb=failed, **self._options(client, address))
                self._check(client, address)
                for subject in (self._subject(self.members.here.id), self._subject(None)):
                    await client.subscribe(subject, cb=self._receive)
                for _ in range(2):  # the library sends the first ping before the subscriptions
                    await client.flush(60)
        except TimeoutError:
            await _end(client)
            raise NatsUnavailable(
                f"{address} does not answer as a NATS server does within {PATIENCE:g} s"
            ) from None
        except (OSError, UnicodeError, Error) as problem:
            await _end(client)
            first = next((one for one in problems if not isinstance(one, Error)), problem)
            _explain(address, first)
        except NatsUnavailable as problem:
            await _end(client)
            raise type(problem)(f"{address}: {problem}") from None
        except BaseException:
            await _end(client)
            raise
        return client

    def _options(self, client: Client, address: NatsAddress) -> dict[str, Any]:
        """The login is given as functions: a server that a node cannot use does not get it."""

        def checked(words: str) -> str:
            self._check(client, address)
            return words

        user, password = partial(checked, address.user), partial(checked, address.password)
        login: dict[str, Any] = {"token": user} if address.user else {}
        if address.password:
            login = {"user": user, "password": password}
        return login | {
            "servers": f"{'tls' if address.tls else 'nats'}://{address}",
            "name": f"botdrome {self.members.here.id}",
            "allow_reconnect": False,
            "max_reconnect_attempts": 1,
            "reconnect_time_wait": 0,
            "connect_timeout": 60,  # PATIENCE counts
            "ping_interval": 1,
            "max_outstanding_pings": PINGS,
            "no_echo": True,
            "pending_size": 4 * UNWRITTEN,
        }

    def _check(self, client: Client, address: NatsAddress) -> None:
        """Raise NatsRefused."""
        info = client._server_info
        if not info.get("auth_required") and not self._open_nats:
            raise NatsRefused(NO_LOGIN)
        if address.tls and not info.get("tls_required"):
            raise NatsRefused(NO_TLS)


async def _end(client: Client) -> None:
    """End a connection, even if the server is frozen: the library would wait for it."""
    if (writer := getattr(client._transport, "_io_writer", None)) is not None:
        writer.transport.abort()
    client._transport = None
    with suppress(Error, OSError):
        await client.close()


def _explain(address: NatsAddress, problem: Exception) -> NoReturn:
    words = str(problem)
    if "authorization" in words.lower() or "authentication" in words.lower():
        raise NatsRefused(f"{address}: it refuses the login ({words}): {LOGIN}") from None
    if isinstance(problem, Error):
        raise NatsRefused(f"{address}: this is no NATS server: {words}") from None
    if isinstance(problem, ssl.SSLError):
        words = str(getattr(problem, "verify_message", "") or problem.reason)
    elif isinstance(problem, gaierror | UnicodeError):
        words = "there is no such host"
    elif isinstance(problem, OSError):
        words = problem.strerror or words
    raise NatsUnavailable(f"cannot connect to {address}: {words}") from None
