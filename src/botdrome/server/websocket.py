"""Socket: a client on a WebSocket. picows hands out frames; making messages of them by RFC 6455 is done here."""

import asyncio
import logging
from collections.abc import Callable
from typing import cast

from picows import WSCloseCode, WSFrame, WSListener, WSMsgType, WSTransport, WSUpgradeRequest
from picows.picows import WSAutoPingStrategy, WSProtocol  # type: ignore[attr-defined]

from botdrome.server import metrics
from botdrome.server.bucket import Bucket
from botdrome.server.connection import MALFORMED, NORMAL, POLICY, Connection, Session

BACKLOG = 1 << 20
"""Bytes that a client may leave unread before it is cut off."""
READ_BUFFER = 2048
FAREWELL = 2.0
"""Seconds for the other side to answer a close."""
TOO_BIG = 1009
MOST_PARTS = 4096
"""Frames of one message."""
PINGS_RATE, PINGS_BURST = 20.0, 200
"""Pings and pongs a second from one client, in the long run, and at once."""

logger = logging.getLogger("botdrome.websocket")


class Murmur(logging.LoggerAdapter[logging.Logger]):
    """What picows has to say, errors alone: a logger of its own for every connection would cost more than the handshake."""

    def isEnabledFor(self, level: int) -> bool:  # noqa: N802 (the name is the base class's)
        return level >= logging.ERROR


MURMUR = Murmur(logger)

MakeSession = Callable[[Connection], Session]


def _head(length: int) -> bytes:
    """Of a whole message of text that a server sends."""
    if length < 126:
        return b"\x81%c" % length
    return b"\x81\x7e" + length.to_bytes(2) if length < 65536 else b"\x81\x7f" + length.to_bytes(8)


class Socket(WSListener):
    def __init__(self, make_session: MakeSession, longest: int) -> None:
        self._make_session, self._longest = make_session, longest
        self._transport: WSTransport | None = None
        self._session: Session | None = None
        self._parts: list[bytes] | None = None
        self._gathered = 0
        """Bytes of these parts."""
        self._pings = Bucket(PINGS_RATE, PINGS_BURST)
        self._ignored = 0
        """Frames that came after our close."""
        self._closing: asyncio.TimerHandle | None = None

    # What the session does.

    def send(self, messages: list[bytes]) -> None:
        """Several go in one write."""
        if self._transport is None or self._closing is not None:
            return
        if len(messages) == 1:
            self._transport.send(WSMsgType.TEXT, messages[0])
        elif messages:
            self._transport.underlying_transport.write(b"".join([_head(len(message)) + message for message in messages]))

    def close(self, code: int = NORMAL, reason: str = "") -> None:
        transport = self._transport
        if transport is not None and self._closing is None:
            transport.send_close(WSCloseCode(code), reason.encode()[:120].decode(errors="ignore").encode())
            self._closing = asyncio.get_running_loop().call_later(FAREWELL, transport.disconnect)

    # What picows tells.

    def on_ws_connected(self, transport: WSTransport) -> None:
        self._transport = transport
        transport.underlying_transport.set_write_buffer_limits(high=BACKLOG)
        self._session = self._make_session(self)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        kind = frame.msg_type
        if self._closing is not None and kind != WSMsgType.CLOSE:
            return self._pass_over(transport)
        if frame.rsv1 or frame.rsv2 or frame.rsv3:
            return self._fail(MALFORMED)
        if kind in (WSMsgType.TEXT, WSMsgType.BINARY):
            if self._parts is not None:
                return self._fail(MALFORMED)
            if frame.fin:
                return self._deliver(frame.get_payload_as_bytes())
            self._parts, self._gathered = [], 0
            return self._gather(frame)
        if kind == WSMsgType.CONTINUATION:
            return self._fail(MALFORMED) if self._parts is None else self._gather(frame)
        if kind == WSMsgType.CLOSE:
            return self._answer_close(transport, frame)
        return self._answer_ping(transport, frame)

    def _pass_over(self, transport: WSTransport) -> None:
        """What comes after our close is not for us; who sends too much of it is cut off."""
        self._ignored += 1
        if self._ignored == MOST_PARTS:
            transport.underlying_transport.abort()

    def _gather(self, frame: WSFrame) -> None:
        assert self._parts is not None
        part = frame.get_payload_as_bytes()
        self._parts.append(part)
        self._gathered += len(part)
        if self._gathered > self._longest or len(self._parts) > MOST_PARTS:
            return self._fail(TOO_BIG)
        if frame.fin:
            message, self._parts = b"".join(self._parts), None
            return self._deliver(message)
        return None

    def _answer_ping(self, transport: WSTransport, frame: WSFrame) -> None:
        """A pong is not asked for, and does no harm."""
        if not self._pings.take():
            metrics.REFUSED.labels("flood").inc()
            self._fail(POLICY)
        elif frame.msg_type == WSMsgType.PING:
            transport.send_pong(frame.get_payload_as_bytes())

    def _deliver(self, message: bytes) -> None:
        if self._session is not None and self._closing is None:
            self._session.received(message)

    def _fail(self, code: int) -> None:
        """The client breaks the rules of the protocol: for its session it is gone."""
        self._lose()
        self.close(code)

    def _answer_close(self, transport: WSTransport, frame: WSFrame) -> None:
        self._lose()
        if self._closing is None:
            code = frame.get_close_code()
            transport.send_close(WSCloseCode.OK if code == WSCloseCode.NO_INFO else code)
        transport.disconnect()

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        if self._closing is not None:
            self._closing.cancel()
        self._lose()
        self._transport = None

    def _lose(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.lost()

    def pause_writing(self) -> None:
        """Too much is unread: cut it off."""
        if self._transport is not None:
            self._transport.underlying_transport.abort()

    def resume_writing(self) -> None:
        pass


class Visit(WSProtocol):  # type: ignore[misc]
    """picows' protocol for one connection, which also tells when one ends that never became a WebSocket."""

    on_end: Callable[[], None]

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.on_end()


def socket_protocol(
    make_session: MakeSession, longest: int, kind: type[Socket], on_end: Callable[[], None]
) -> asyncio.BufferedProtocol:
    """picows' class for it is not public, so the minor version of picows is pinned. `on_end` is called once, in any case."""

    def listener(_: WSUpgradeRequest) -> WSListener:
        return kind(make_session, longest)

    protocol = Visit(
        None, None, False, listener, MURMUR, True, 10, False, 10, 10, WSAutoPingStrategy.PING_WHEN_IDLE, False, longest, None,
        READ_BUFFER,
    )  # fmt: skip
    protocol.on_end = on_end
    return cast(asyncio.BufferedProtocol, protocol)
