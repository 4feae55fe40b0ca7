"""Peer: a layer between the transport of a TCP connection and its protocol, for fair shares of the
event loop and for proxies.

It is a protocol to asyncio, and a transport to the protocol. It records which client the server is
working for, and holds input while the budget of the client is used up, so that no client slows down
the others.

Theory of operation. Each address has a budget of loop time. The time spent on its clients' input is
charged to it. Input within the budget is served at once. When the budget is used up, input is held
and served in the background: one SLICE per turn of the loop, round-robin over the addresses, and
over the accounts and guests of an address. So a single client can use the whole server, and a
flooding client gets only the time that others leave.

Debt is repaid in full before input is served at once again. Slices are time that others leave, so
they cost at most DEBT; what exceeds a slice costs all of it.

An address that is the only active one gets a new BURST in every turn of the loop, and its slices
are as long and free: nobody else is there, and holding input costs time. What exceeds a burst is
debt here, too. A client of another address, which may come at any time, waits for one turn.

What is charged is CPU time: while other programs use the cores, a client does not pay for them. The
CPU clock costs a system call, so it is read only if something took longer than BRIEF, and once in
BRIEF at most for the beginning.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from functools import partial
from ipaddress import IPv6Address, ip_address, ip_network
from math import inf
from time import monotonic, thread_time
from typing import Any, Final, NamedTuple, Protocol, cast

import structlog

from botdrome.server import metrics
from botdrome.server.network.connection import PIPE, source_of
from botdrome.server.network.listening import MakeProtocol
from botdrome.server.network.steady_loop import watch_of
from botdrome.server.settings import BadSetting, Settings
from botdrome.server.workers.jobs import CLIENT
from botdrome.wire.framing.streams import BadHeader, may_be_header, read_header

# Budget: the loop time of one address, which its clients share.

BURST: Final = 0.005
"""Maximum seconds of loop time in a budget."""


class Held(Protocol):
    """A connection with held input, or other queued work for a client."""

    @property
    def later(self) -> float:
        """Estimated seconds of work that one piece causes after it was served."""

    def serve_held(self) -> bool:
        """Serve one piece. Return whether there is more."""


class Budget:
    """The loop time of one address, and its clients with held input."""

    __slots__ = ("accounts", "filled", "floor", "guests", "left", "line", "period", "until")

    def __init__(self, now: float) -> None:
        self.left, self.filled, self.period = BURST, now, 0
        self.until, self.floor = -inf, 0.0
        """Until this time input is served at once; its cost is just subtracted while more than the
        floor is left. The floor is BRIEF below what was left at first, or zero.
        """
        self.line: deque[Sharer] = deque()
        self.guests = Sharer(self)
        self.accounts: dict[str, Sharer] = {}

    def sharer(self, account: str) -> "Sharer":
        found = self.accounts.get(account)
        if found is None:
            found = self.accounts[account] = Sharer(self, account)
        return found


class Sharer:
    """An account at an address, or all guests there. Sharers of an address take turns."""

    __slots__ = ("account", "budget", "held", "peers")

    def __init__(self, budget: Budget, account: str = "") -> None:
        self.budget, self.account = budget, account
        self.peers = 0
        """The open connections of the account."""
        self.held: deque[Held] = deque()


SHARED: Final = 0.5
"""The part of loop time that active addresses share evenly for immediate service.

The rest serves held input.
"""
DEBT: Final = 0.05
"""Maximum debt in seconds that slices bring about.

It is small, so that a budget recovers soon after a burst.
"""
BRIEF: Final = 0.001
"""Seconds by the wall clock up to which they are charged as they are."""
SLICE: Final = 0.001
"""Seconds spent on held input in one turn of the loop."""
REST: Final = 0.001
"""Seconds between two slices while clients of several addresses are active."""
PERIOD: Final = 0.5
"""Seconds over which the active addresses are counted."""
REMEMBERED = 10_000
"""Maximum number of budgets kept. The least recently used is dropped first."""


class OpenConnection(Protocol):
    """A transport that the server can close."""

    def get_write_buffer_size(self) -> int: ...

    def close(self) -> None: ...

    def abort(self) -> None: ...


class Shares:
    """The budgets of all addresses, and the queue of held input."""

    def __init__(self) -> None:
        self._budgets: OrderedDict[str, Budget] = OrderedDict()
        self._line: deque[Budget] = deque()
        self._loop = asyncio.get_running_loop()
        self._watch = watch_of(self._loop)
        self.connections: set[OpenConnection] = set()
        """All that are open."""
        self._serving = False
        self._held = 0
        """Pieces of work that were queued since the metric was last told."""
        self.period, self._period_end = 0, 0.0
        self.look, self._cpu = 0.0, 0.0
        """When the CPU clock is due to be read, and what it said at most BRIEF before the current
        input.
        """
        self._active = self._counted = 1
        """Active addresses in the last period, and in the current one so far."""
        self._given = False
        """Whether the only active address has got its time of this turn of the loop."""

    def sharer(self, source: str, account: str = "") -> Sharer:
        """Return the sharer for an account at an address; without an account, for its guests."""
        budget = self._budgets.get(source)
        if budget is not None:
            self._budgets.move_to_end(source)
        else:
            budget = self._budgets[source] = Budget(monotonic())
            if len(self._budgets) > REMEMBERED:
                self._budgets.popitem(last=False)
        return budget.sharer(account) if account else budget.guests

    def leave(self, sharer: Sharer) -> None:
        """A connection is lost. An account is remembered while it has one."""
        sharer.peers -= 1
        if not sharer.peers:
            sharer.budget.accounts.pop(sharer.account, None)

    def must_wait(self, sharer: Sharer, now: float) -> bool:
        """Refill a budget that is used up, and return whether input must be held."""
        budget = sharer.budget
        if now > self.look:
            self._look_at_clocks(now)
        if budget.period != self.period:
            budget.period = self.period
            self._counted += 1
        if budget.left > 0:
            return False
        budget.left = min(BURST, budget.left + (now - budget.filled) * self._share)
        budget.filled = now
        if budget.left <= 0 < budget.left + BURST and self._alone and not self._given:
            budget.left += BURST
            self._given = True
            self._loop.call_soon(self._next_turn)
        return budget.left <= 0

    def _next_turn(self) -> None:
        self._given = False

    def _look_at_clocks(self, now: float) -> None:
        self.look, self._cpu = now + BRIEF, thread_time()
        if now > self._period_end:
            metrics.HELD.inc(self._held)
            self._held = 0
            self.period, self._period_end = self.period + 1, now + PERIOD
            self._active, self._counted = max(1, self._counted), 0
            if self._watch is not None:
                self._watch.wake()

    def spent(self, began: float) -> float:
        """Return the loop time that was spent since then on the current input."""
        wall = monotonic() - began
        return wall if wall <= BRIEF else min(wall, thread_time() - self._cpu)

    def charge(self, budget: Budget, seconds: float, now: float) -> None:
        """Charge work that began now.

        What a full budget could not take in before does not pay for it.
        """
        left = budget.left - seconds
        if left <= 0 < budget.left:
            left += min(BURST - budget.left, (now - budget.filled) * self._share)
            budget.filled = now
        budget.left, budget.until = left, -inf

    @property
    def _share(self) -> float:
        return SHARED / max(self._active, self._counted)

    @property
    def _alone(self) -> bool:
        return max(self._active, self._counted) == 1

    def hold(self, sharer: Sharer, held: Held) -> None:
        self._held += 1
        budget = sharer.budget
        budget.until = -inf
        if not budget.line:
            self._line.append(budget)
        if not sharer.held:
            budget.line.append(sharer)
        sharer.held.append(held)
        if not self._serving:
            self._serving = True
            self._set_next()

    def _serve(self) -> None:
        """Serve held input for one slice per turn of the loop, so that other events are handled in
        between.

        All stay first in their queues meanwhile: what is served may queue work for its client.
        """
        budget = self._line[0]
        sharer = budget.line[0]
        began = monotonic()
        if began > self.look:
            self._look_at_clocks(began)
        line, later, spent = sharer.held, 0.0, 0.0
        alone = self._alone
        limit = BURST if alone else SLICE
        while line and spent < limit:
            held, more = line[0], False
            try:
                more = held.serve_held()
            except Exception:
                log.exception("work for a client failed")
            if more:
                line.rotate(-1)
            else:
                line.popleft()
            later += held.later
            spent = monotonic() - began + later
        spent = self.spent(began) + later
        excess, left = max(0.0, spent - limit), budget.left
        budget.until = -inf
        budget.left = left - excess if alone else max(left - spent, min(left, -DEBT) - excess)
        if line:
            budget.line.rotate(-1)
        else:
            budget.line.popleft()
        if budget.line:
            self._line.rotate(-1)
        else:
            self._line.popleft()
        self._serving = bool(self._line)
        if self._serving:
            self._set_next()

    def _set_next(self) -> None:
        """Schedule the next slice.

        With several active addresses the loop pauses, so that storing threads get the interpreter.
        """
        if self._alone:
            self._loop.call_soon(self._serve)
        else:
            self._loop.call_later(REST, self._serve)


# Proxies trusted to report the address of a client.


class Proxies:
    """The networks of the setting `network.trusted_proxies`.

    Addresses reported by other hosts are ignored.
    """

    def __init__(self, settings: Settings) -> None:
        try:
            self.networks = [
                ip_network(word.strip())
                for word in settings.network.trusted_proxies.split(",")
                if word.strip()
            ]
        except ValueError as problem:
            raise BadSetting(
                f"network.trusted_proxies: {problem}; networks are written like 10.1.0.0/16 or "
                "127.0.0.1"
            ) from None

    def trust(self, address: str) -> bool:
        if not self.networks:
            return False
        try:
            found = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        plain = found.ipv4_mapped or found if isinstance(found, IPv6Address) else found
        return any(plain in network for network in self.networks)

    def client_of(self, address: str, forwarded: str) -> str:
        """Return the address of a client by `X-Forwarded-For`, to which each proxy appends the
        address of its peer.
        """
        for word in reversed(forwarded.split(",")):
            if not self.trust(address):
                break
            try:
                address = str(ip_address(word.strip().partition("%")[0]))
            except ValueError:
                break
        return address


log = structlog.get_logger()

PIECE: Final = 64 << 10
"""Bytes of held input served at a time. Reading pauses while more than this is held."""

HEADER_WAIT = 3.0
"""Seconds to wait for a PROXY header. A proxy that sends nothing in this time sends no header."""


def current_peer() -> "Peer | None":
    """Return the client whose input is being served, also in tasks started for it.

    When a timer rings that sessions share, or a bot answers a call, it may be another client.
    """
    client = CLIENT.get()
    return client if isinstance(client, Peer) else cast("Peer | None", client.peer)


UNKNOWN: Final = Budget(0.0).guests
"""The sharer of connections whose address is not known yet; they are not served."""


class Origin(NamedTuple):
    """Where a client comes from."""

    address: str
    port: int
    proxied: bool
    """Whether a proxy reported the address."""


class Peer:
    """A connection and its share of the loop.

    A protocol and a transport by duck typing.
    """

    __slots__ = (
        "__dict__", "_begun", "_from", "_held", "_in_line", "_make", "_origin", "_protocol",
        "_proxied", "_proxies", "_receive", "_sharer", "_shares", "_transport", "address", "local",
        "source", "write",
    )  # fmt: skip

    # Set only on few connections, so kept in `__dict__`.

    _first = b""
    """The first bytes from a proxy, which may be a PROXY header."""
    _waiting: asyncio.TimerHandle | None = None
    _deaf = False
    """Whether the protocol has paused reading."""
    _full = False
    """Whether reading is paused because too much input is held."""
    _ended = False
    """Whether the client sent EOF after the held input."""

    def __init__(
        self, make: MakeProtocol, shares: Shares, proxies: Proxies, origin: Origin | None = None
    ) -> None:
        """`origin` is that of a client which another node has accepted."""
        self._make, self._shares, self._proxies, self._origin = make, shares, proxies, origin
        self._from: tuple[Any, ...] = ("", 0)
        """The address and port of the client."""
        self.address = ""
        self.local = False
        """Whether the client is on this machine, so that there is nothing to measure."""
        self._begun = self._proxied = False
        self._transport: asyncio.Transport
        self.write: Callable[[bytes], None]
        """The transport's, for a call less for each message."""
        self._protocol: asyncio.Protocol
        self._receive: Callable[[bytes], None]
        self._sharer = UNKNOWN
        self.source = ""
        self._held = b""
        """Input that waits for its turn to be served."""
        self._in_line = False
        """Whether the connection is queued for a turn."""

    later = 0.0

    @property
    def peer(self) -> "Peer":
        """As in `Client`."""
        return self

    def let_wait(self, work: Held) -> bool:
        """Queue work if the client's budget is used up. Return whether it was queued."""
        now, sharer, shares = monotonic(), self._sharer, self._shares
        budget = sharer.budget
        if (
            budget.left <= 0 or now > shares.look or budget.period != shares.period
        ) and shares.must_wait(sharer, now):
            shares.hold(sharer, work)
            return True
        if work.later < budget.left:  # nearly always
            budget.left -= work.later
        else:
            shares.charge(budget, work.later, now)
        return False

    def charge(self, seconds: float) -> None:
        """Charge loop time to the client's budget."""
        budget = self._sharer.budget
        if 0 < budget.left <= seconds:
            self._shares.charge(budget, seconds, monotonic())
        else:  # nearly always
            budget.left -= seconds

    def bill(self, account: str) -> None:
        """Charge the account after a login, so that the client no longer shares turns with the
        guests of its address.
        """
        if self not in self._shares.connections:  # it was lost meanwhile
            return
        before = self._sharer
        self._sharer = before.budget.sharer(account)
        self._sharer.peers += 1
        if before.account:
            self._shares.leave(before)

    # Called by the transport.

    def connection_made(self, transport: Any) -> None:
        self._transport, self.write = transport, transport.write
        self._shares.connections.add(self)
        if self._origin is not None:
            self.address, self._proxied = self._origin.address, self._origin.proxied
            self._from = self._origin[:2]
            return self._begin()
        if found := transport.get_extra_info("peername"):
            self._from, self.address = found, str(found[0])
        if self._proxies.networks and self._proxies.trust(self.address):
            self._proxied = True
            self._waiting = asyncio.get_running_loop().call_later(HEADER_WAIT, self._begin)
        else:
            self._begin()
        return None

    def adopt(self, address: str) -> None:
        """Set the address of a client behind a proxy."""
        self.address, self._from = address, (address, *self._from[1:])
        source = self.source = source_of(address)[0]
        if self._sharer.account:
            self._shares.leave(self._sharer)
        self._sharer = self._shares.sharer(source)
        CLIENT.set(self)

    def client_of(self, forwarded: str) -> str:
        """Return the address of the client of a request with this `X-Forwarded-For`."""
        return self._proxies.client_of(self.address, forwarded)

    def _begin(self) -> None:
        """Start the protocol, once the address of the client is known."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        self._begun = True
        source, loopback = source_of(self.address)  # adopt(), without the call
        if loopback and not self._proxied:
            self.local = self._origin is None or not self._transport.get_extra_info(PIPE)
        self.source = source
        self._sharer = self._shares.sharer(source)
        CLIENT.set(self)
        protocol: Any = self._make()
        self._protocol, self._receive = protocol, protocol.data_received
        protocol.connection_made(self)
        if self._first:
            first, self._first = self._first, b""
            self.data_received(first)

    def _read_header(self, data: bytes) -> None:
        self._first += data
        try:
            found = read_header(self._first) if may_be_header(self._first) else ("", 0, 0)
        except BadHeader as problem:
            log.warning(
                "a proxy sent an invalid PROXY header", address=self.address, problem=str(problem)
            )
            return self._transport.abort()
        if found is None:
            return None
        address, port, length = found
        if address:
            self._from, self.address = (address, port), address
        self._first = self._first[length:]
        return self._begin()

    def data_received(self, data: bytes) -> None:
        began, budget = monotonic(), self._sharer.budget
        if (began > budget.until or self._held) and not self._is_served_at_once(data, began):
            return
        CLIENT.set(self)
        receive = self._receive  # calling a slot itself is slower
        receive(data)
        left = budget.left - (monotonic() - began)
        if left > budget.floor:  # nearly always
            budget.left = left
        else:
            self._shares.charge(budget, self._shares.spent(began), began)

    def _is_served_at_once(self, data: bytes, now: float) -> bool:
        """Hold the input, unless it is served at once. The clocks are looked at here."""
        if not self._begun:
            self._read_header(data)
            return False
        sharer, shares = self._sharer, self._shares
        budget = sharer.budget
        if (
            self._held
            or (budget.line and budget.period == shares.period)  # other input of the address waits
            or (
                (budget.left <= 0 or now > shares.look or budget.period != shares.period)
                and shares.must_wait(sharer, now)
            )
        ):
            self._hold(data)
            return False
        budget.until, floor = shares.look, budget.left - BRIEF
        budget.floor = floor if floor > 0 else 0.0
        return True

    def eof_received(self) -> bool:
        if not self._begun:
            return False
        if self._held:
            self._ended = True
            return True
        return bool(self._protocol.eof_received())

    def connection_lost(self, exc: Exception | None) -> None:
        self._shares.connections.discard(self)
        self._held = b""
        if self._ended:
            self._ended = False
        if self._waiting is not None:
            self._waiting.cancel()
        if not self._begun:
            return
        CLIENT.set(self)
        self._protocol.connection_lost(exc)
        if self._sharer.account:
            self._shares.leave(self._sharer)

    def pause_writing(self) -> None:
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        self._protocol.resume_writing()

    # Held input.

    @property
    def held(self) -> bytes:
        return self._held

    def _hold(self, data: bytes) -> None:
        self._held = self._held + data if self._held else data
        if not self._in_line and not self._deaf:  # _line_up(), without the call
            self._in_line = True
            self._shares.hold(self._sharer, self)
        if len(self._held) > PIECE and not self._full:
            self._full = True
            self._transport.pause_reading()

    def _line_up(self) -> None:
        if not self._in_line and not self._deaf:
            self._in_line = True
            self._shares.hold(self._sharer, self)

    def serve_held(self) -> bool:
        """Serve a piece of the held input. Return whether there is more."""
        self._in_line = not self._deaf and self._serve_piece()
        return self._in_line

    def _serve_piece(self) -> bool:
        held = self._held
        piece, self._held = (held, b"") if len(held) <= PIECE else (held[:PIECE], held[PIECE:])
        if piece:
            CLIENT.set(self)
            try:
                self._receive(piece)
            except Exception:
                log.exception("a connection failed")
                self._held = b""
                self._transport.abort()
        if self._held:
            return not self._deaf
        if self._full and not self._transport.is_closing():
            self._full = False
            if not self._deaf:
                self._transport.resume_reading()
        if self._ended and not self._protocol.eof_received():
            self._transport.close()
        return False

    # Called by the protocol.

    def set_protocol(self, protocol: Any) -> None:
        self._protocol, self._receive = protocol, protocol.data_received

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        if name == "proxied":
            return self._proxied
        return self._from if name == "peername" else self._transport.get_extra_info(name, default)

    def pause_reading(self) -> None:
        self._deaf = True
        if not self._full:
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        self._deaf = False
        if self._held:
            self._line_up()
        if not self._full:
            self._transport.resume_reading()

    def is_reading(self) -> bool:
        return not self._deaf

    def write_eof(self) -> None:
        self._transport.write_eof()

    def can_write_eof(self) -> bool:
        return self._transport.can_write_eof()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._transport.set_write_buffer_limits(high, low)

    def get_write_buffer_size(self) -> int:
        return self._transport.get_write_buffer_size()

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def close(self) -> None:
        self._transport.close()

    def abort(self) -> None:
        self._transport.abort()


def was_held() -> bool:
    """Whether the input that is being served waited for the turn of its address."""
    peer = current_peer()
    return peer is not None and peer._in_line


def sharing(
    make: MakeProtocol, shares: Shares, proxies: Proxies, origin: Origin | None = None
) -> MakeProtocol:
    """Wrap each protocol that `make` returns in a peer."""
    return cast(MakeProtocol, partial(Peer, make, shares, proxies, origin))


def origin_of(transport: asyncio.Transport) -> Origin:
    address, port = transport.get_extra_info("peername")[:2]
    return Origin(str(address), int(port), bool(transport.get_extra_info("proxied")))


def pause_reading(transport: asyncio.Transport | None, paused: bool) -> None:
    if transport is not None and not transport.is_closing() and transport.is_reading() == paused:
        transport.pause_reading() if paused else transport.resume_reading()
