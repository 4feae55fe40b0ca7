"""Socket: a client on a WebSocket. picows hands out frames; making messages of them by RFC 6455 is done here."""

import asyncio
import logging
from collections.abc import Callable

from picows import WSCloseCode, WSFrame, WSListener, WSMsgType, WSTransport, WSUpgradeRequest
from picows.picows import WSAutoPingStrategy, WSProtocol  # type: ignore[attr-defined]

from botdrome.server.connection import Connection, Session

BACKLOG = 1 << 20
"""Bytes that a client may leave unread before it is cut off."""
READ_BUFFER = 2048
FAREWELL = 2.0
"""Seconds for the other side to answer a close."""
TOO_BIG = 1009
PROTOCOL_ERROR = 1002

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
    def __init__(self, make_session: MakeSession, longest: int, on_end: Callable[[], None]) -> None:
        self._make_session, self._longest, self._on_end = make_session, longest, on_end
        self._transport: WSTransport | None = None
        self._session: Session | None = None
        self._parts: list[bytes] | None = None
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

    def close(self, code: int = 1000, reason: str = "") -> None:
        transport = self._transport
        if transport is not None and self._closing is None:
            transport.send_close(WSCloseCode(code), reason.encode()[:120])
            self._closing = asyncio.get_running_loop().call_later(FAREWELL, transport.disconnect)

    # What picows tells.

    def on_ws_connected(self, transport: WSTransport) -> None:
        self._transport = transport
        transport.underlying_transport.set_write_buffer_limits(high=BACKLOG)
        self._session = self._make_session(self)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        kind = frame.msg_type
        if frame.rsv1 or frame.rsv2 or frame.rsv3:
            return self._fail(PROTOCOL_ERROR)
        if kind in (WSMsgType.TEXT, WSMsgType.BINARY):
            if self._parts is not None:
                return self._fail(PROTOCOL_ERROR)
            if frame.fin:
                return self._deliver(frame.get_payload_as_bytes())
            self._parts = []
            return self._gather(frame)
        if kind == WSMsgType.CONTINUATION:
            return self._fail(PROTOCOL_ERROR) if self._parts is None else self._gather(frame)
        if kind == WSMsgType.CLOSE:
            self._answer_close(transport, frame)
        return None

    def _gather(self, frame: WSFrame) -> None:
        assert self._parts is not None
        self._parts.append(frame.get_payload_as_bytes())
        if sum(map(len, self._parts)) > self._longest:
            return self._fail(TOO_BIG)
        if frame.fin:
            message, self._parts = b"".join(self._parts), None
            return self._deliver(message)
        return None

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
        self._on_end()

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


def socket_protocol(
    make_session: MakeSession, longest: int, kind: type[Socket], on_end: Callable[[], None]
) -> asyncio.BufferedProtocol:
    """picows' protocol for one connection. Its class is not public, so the minor version of picows is pinned."""

    def listener(_: WSUpgradeRequest) -> WSListener:
        return kind(make_session, longest, on_end)

    protocol: asyncio.BufferedProtocol = WSProtocol(
        None, None, False, listener, MURMUR, True, 10, False, 10, 10, WSAutoPingStrategy.PING_WHEN_IDLE, True, longest, None,
        READ_BUFFER,
    )  # fmt: skip
    return protocol
