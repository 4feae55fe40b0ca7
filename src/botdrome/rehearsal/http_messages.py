"""HTTP with JSON bodies over asyncio's streams, as much as synthetic bots need."""

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

from botdrome.rehearsal.bot_faults import BotDropped


async def ask(url: str, body: Any = None) -> dict[str, Any]:
    """Return the answer to GET, or to POST if there is a body, whatever its status."""
    parts, data = urlsplit(url), b"" if body is None else json.dumps(body).encode()
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        head = (
            f"{'GET' if body is None else 'POST'} {target} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
            "Connection: close\r\n"
        )
        head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        writer.write(head.encode() + data)
        await writer.drain()
        _, answer = await read_message(reader)
        return dict(json.loads(answer))
    finally:
        writer.close()


async def read_message(reader: asyncio.StreamReader) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of a request or an answer."""
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[1:]
    headers = {
        name.lower(): value.strip()
        for name, _, value in (line.partition(":") for line in lines if line)
    }
    return headers, await reader.readexactly(int(headers.get("content-length", 0)))


async def serve_answers(answer: Any) -> asyncio.Server:
    """Listen on a free port, and answer each request with `await answer(headers, message)`."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                headers, body = await read_message(reader)
                data = json.dumps(await answer(headers, json.loads(body))).encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
                    b"\r\n" % len(data) + data
                )
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, BotDropped):
            pass
        finally:
            writer.close()

    return await asyncio.start_server(serve, "127.0.0.1", 0)
