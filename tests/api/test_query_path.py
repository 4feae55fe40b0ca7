"""The path of one query through the server is as short as docs/architecture.md says, and as it
says.
"""

import re
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import httpx
import pytest

from botdrome.api.graphql.query import HttpQuery
from botdrome.server.workers.worker import Worker
from tests.server.clients import server

pytestmark = pytest.mark.anyio

ARCHITECTURE = Path(__file__).parents[2] / "docs" / "architecture.md"
HOP = re.compile(r"^\d+\. `([\w/]+)\.py`, `([\w.]+)`", re.MULTILINE)
QUERY = b'{"query": "{ botsCount(gameType: GOMOKU) }"}'
MOST_HOPS = 8

Hop = tuple[str, str]
"""A module and a function."""


def described() -> list[Hop]:
    section = (
        ARCHITECTURE.read_text().partition("\n## The path of one query\n")[2].partition("\n## ")[0]
    )
    return HOP.findall(section)


@contextmanager
def traced() -> Iterator[dict[Hop, None]]:
    """The functions of the package that are called, in the order of their first calls."""
    called: dict[Hop, None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        _, package, file = frame.f_code.co_filename.rpartition("/botdrome/")
        if event == "call" and package:
            called.setdefault((file.removesuffix(".py"), frame.f_code.co_qualname))

    sys.setprofile(note)
    try:
        yield called
    finally:
        sys.setprofile(None)


def test_the_path_has_8_hops_at_most() -> None:
    assert 1 < len(described()) <= MOST_HOPS


async def test_a_query_takes_the_described_path(tmp_path: Path) -> None:
    """The part in the worker process is run in this process, where it can be traced."""
    async with (
        server(tmp_path) as house,
        httpx.AsyncClient(base_url=house.url, trust_env=False) as http,
    ):
        with traced() as in_server:
            answer = await http.post(
                "/graphql", content=QUERY, headers={"content-type": "application/json"}
            )
        assert answer.json() == {"data": {"botsCount": 0}}
        ours, theirs = socket.socketpair()
        with ours, theirs, traced() as in_worker:
            query = HttpQuery(content_type="application/json", body=QUERY)
            await Worker(theirs)._run(
                1, "", "botdrome.api.graphql.executor:answer", (house.arena.store.source, query)
            )
    hops = described()
    assert [hop for hop in (*in_server, *in_worker) if hop in hops] == hops
