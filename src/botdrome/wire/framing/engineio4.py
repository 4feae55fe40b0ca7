"""Engine.IO 4, as clients 3.x and 4.x of socket.io speak it: payloads whose packets are parted by a separator."""

from botdrome.wire.framing.engineio import MESSAGE, BadPacket, Packet, base64, counted, read_text

SEPARATOR = "\x1e"


class EngineIo4:
    version = 4

    def read_frame(self, frame: bytes) -> Packet:
        return Packet(MESSAGE, frame)

    def read_payload(self, payload: str) -> list[Packet]:
        counted(payload.count(SEPARATOR) + 1)
        return [_packet(text) for text in payload.split(SEPARATOR)]

    def read_bytes(self, payload: bytes) -> list[Packet]:
        raise BadPacket("a payload is text")

    def write_payload(self, packets: list[str]) -> str:
        return SEPARATOR.join(packets)


def _packet(text: str) -> Packet:
    return Packet(MESSAGE, base64(text[1:])) if text[:1] == "b" else read_text(text)
