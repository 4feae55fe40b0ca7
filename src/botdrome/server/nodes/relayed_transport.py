"""RelayedTransport: a connection whose socket is at another node, as an asyncio transport."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, cast

from botdrome.server.nodes import relay_messages as relay
from botdrome.server.nodes.node import Key

RELAYED = "relayed"
"""The extra information of a transport that is one of these."""


class RelayedTransport(asyncio.Transport):
    """The front counts what the client leaves unread, and says when that is too much."""

    def __init__(
        self,
        opening: relay.OpenRelay,
        send: Callable[[relay.RelayMessage], None],
        forget: Callable[[], None],
    ) -> None:
        super().__init__()
        self._opening, self._send, self._forget = opening, send, forget
        self._protocol: asyncio.Protocol
        self._early: list[relay.FromFront] | None = []
        """Messages that came before the protocol; None: it is here."""
        self._closing = self._reading_paused = False
        self._returning: tuple[Key, list[bytes]] | None = None
        """What the client needs from another node, and its input for it."""

    def begin(self, make: Callable[[], asyncio.BaseProtocol]) -> None:
        """Start the protocol, unless the client is lost by now."""
        if self._closing:
            return
        protocol = self._protocol = cast(asyncio.Protocol, make())
        protocol.connection_made(self)
        early, self._early = self._early or [], None
        for message in early:
            self.receive(message)

    # Called by the protocol.

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        if name == "peername":
            return self._opening.address, self._opening.client_port
        if name == "sslcontext":
            return self._opening.tls or default
        if name == RELAYED:
            return self
        return default

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        assert isinstance(protocol, asyncio.Protocol) or hasattr(protocol, "data_received")
        self._protocol = protocol  # type: ignore[assignment]

    def get_protocol(self) -> asyncio.Protocol:
        return self._protocol

    def is_closing(self) -> bool:
        return self._closing

    def is_reading(self) -> bool:
        return not self._closing and not self._reading_paused

    def pause_reading(self) -> None:
        self._pause_input(True)

    def resume_reading(self) -> None:
        self._pause_input(False)

    def _pause_input(self, paused: bool) -> None:
        if not self._closing and paused != self._reading_paused:
            self._reading_paused = paused
            self._send(relay.PauseInput(self._opening.number, paused))

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """The limits of the front hold."""

    def get_write_buffer_size(self) -> int:
        return 0

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return 0, 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._closing and data:
            self._send(relay.Output(self._opening.number, bytes(data)))

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.write(b"".join(list_of_data))

    def can_write_eof(self) -> bool:
        return not self._opening.tls

    def write_eof(self) -> None:
        if not self._closing:
            self._send(relay.OutputEnded(self._opening.number))

    def close(self) -> None:
        self._end(abort=False)

    def abort(self) -> None:
        self._end(abort=True)

    def _end(self, abort: bool) -> None:
        if not self._closing:
            self._closing = True
            self._send(relay.EndRelay(self._opening.number, abort))
            asyncio.get_running_loop().call_soon(self._lose)

    def _lose(self) -> None:
        self._forget()
        if self._early is None:
            self._protocol.connection_lost(None)

    def give_back(self, key: Key, seen: bytes) -> None:
        """Let the front bring the connection to the home of a key.

        `seen` counts anew, and what comes meanwhile.
        """
        early = self._early or []
        if self._closing or any(isinstance(message, relay.ClientLost) for message in early):
            return self.lost()
        seen += b"".join([message.data for message in early if isinstance(message, relay.Input)])
        self._closing, self._returning = True, (key, [seen])
        return self._send(relay.Recall(self._opening.number))

    # Called by the front.

    def receive(self, message: relay.FromFront) -> None:
        if self._returning is not None:
            return self._return(message, *self._returning)
        if self._closing:
            return None
        if self._early is not None:
            return self._early.append(message)
        match message:
            case relay.Input():
                self._protocol.data_received(message.data)
            case relay.InputEnded():
                if not self._protocol.eof_received():
                    self.close()
            case relay.OutputPaused():
                if message.paused:
                    self._protocol.pause_writing()
                else:
                    self._protocol.resume_writing()
            case relay.ClientLost():
                self.lost()
        return None

    def _return(self, message: relay.FromFront, key: Key, seen: list[bytes]) -> None:
        if isinstance(message, relay.Input):
            seen.append(message.data)
        elif isinstance(message, relay.Recalled):
            self._send(relay.GiveBack(self._opening.number, key, b"".join(seen)))
            self._returning = None
            self._lose()
        elif isinstance(message, relay.ClientLost):
            self.lost()

    def lost(self) -> None:
        """The client is gone, or its node."""
        if not self._closing or self._returning is not None:
            self._closing, self._returning = True, None
            self._lose()
