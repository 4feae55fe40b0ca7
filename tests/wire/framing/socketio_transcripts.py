"""Conversations on socket.io as transcripts: `>` from the client, `<` to the client, `!` a command,
`@` seconds pass.
"""

from botdrome.wire.conversation import Outs
from botdrome.wire.framing.socketio import BINARY, Handshake, SocketIoConversation, SocketIoLimits

LIMITS = SocketIoLimits(rate=1, burst=6)


def handshake(version: int) -> Handshake:
    return Handshake("secret", "public", version, ("websocket",))


def shown(outs: Outs) -> list[str]:
    return [f"< {out.decode()}" if isinstance(out, bytes) else f"! {out}" for out in outs]


class Client:
    """Plays the client's part of a transcript, and the clock's."""

    def __init__(self, conversation: SocketIoConversation) -> None:
        self.conversation, self.now = conversation, 0.0
        self.heard = shown(conversation.begin(0.0))

    def do(self, line: str) -> None:
        if line.startswith("@"):
            self.pass_time(float(line[1:]))
        elif line.startswith("> bytes "):
            self.heard += shown(
                self.conversation.receive(BINARY + line.removeprefix("> bytes ").encode(), self.now)
            )
        else:
            self.heard += shown(
                self.conversation.receive(line.removeprefix("> ").encode(), self.now)
            )

    def pass_time(self, seconds: float) -> None:
        """Wake the conversation at each of its deadlines."""
        until = self.now + seconds
        while (due := self.conversation.deadline) is not None and due <= until:
            self.now = due
            self.heard += shown(self.conversation.wake(due))
        self.now = until


def check(conversation: SocketIoConversation, transcript: str) -> None:
    client = Client(conversation)
    told: list[str] = []
    for line in filter(None, map(str.strip, transcript.splitlines())):
        if line.startswith(("<", "!")):
            told.append(line)
        else:
            assert client.heard == told, f"before {line}"
            client.do(line)
    assert client.heard == told
