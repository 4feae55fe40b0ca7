"""Probes: readiness follows the store."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from botdrome import app
from botdrome.api import probes
from botdrome.api.probes import StoreProbe
from botdrome.protocols import load_settings
from botdrome.server.settings import BadSetting
from botdrome.store.entries import StoreUnavailable
from tests.server.clients import server
from tests.server.workers.gates import gate

pytestmark = pytest.mark.anyio


class Moody:
    """A store that answers, or does not, or fails; and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked, self.works, self.silent = 0, True, asyncio.Event()
        self.silent.set()

    async def probe(self) -> None:
        self.asked += 1
        await self.silent.wait()
        if not self.works:
            raise StoreUnavailable("the connection is lost")


class Probed:
    def __init__(self) -> None:
        self.store, self.now = Moody(), 0.0
        store: Any = self.store
        self.probe = StoreProbe(store, lambda: self.now)


async def test_a_store_is_asked_once_a_second() -> None:
    one = Probed()
    assert [await one.probe.answers() for _ in range(5)] == [True] * 5
    one.store.works, one.now = False, 0.9
    assert await one.probe.answers()
    assert one.store.asked == 1
    one.now = 1.0
    assert [await one.probe.answers() for _ in range(5)] == [False] * 5
    one.store.works, one.now = True, 2.0
    assert await one.probe.answers()
    assert one.store.asked == 3


async def test_those_who_ask_together_share_the_answer_also_when_one_leaves() -> None:
    one = Probed()
    one.store.silent.clear()
    first, second = [asyncio.ensure_future(one.probe.answers()) for _ in range(2)]
    await asyncio.sleep(0)
    first.cancel()
    one.now = 100.0
    third = asyncio.ensure_future(one.probe.answers())
    await asyncio.sleep(0)
    one.store.silent.set()
    assert await second and await third
    assert one.store.asked == 1


async def test_a_store_that_says_nothing_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "ANSWERING", 0.0)
    one = Probed()
    one.store.silent.clear()
    assert [await one.probe.answers() for one.now in (0.0, 10.0, 20.0)] == [False] * 3
    assert one.store.asked == 1, "no second question while the first is open"
    monkeypatch.setattr(probes, "ANSWERING", 20.0)
    one.store.silent.set()
    assert await one.probe.answers()


async def test_a_server_is_ready_when_a_worker_process_is_warm(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        httpx.AsyncClient(base_url=house.url) as http,
        gate() as start,
    ):
        house.desk.workers.start("tests.server.workers.chores:wait_at", start.path)
        await start.reached.wait()
        answer = await http.get("/readyz")
        assert (answer.status_code, answer.text) == (503, "starting\n")
        start.open()
        await house.desk.workers.value("me", "tests.server.workers.chores:add", 1, 1)
        assert (await http.get("/readyz")).status_code == 200


async def test_a_server_that_starts_is_not_ready_when_its_ports_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker process is started after that."""
    warm = []

    async def no_port(parts: Any, _: Any) -> None:
        warm.append(parts.server.desk.workers.warm)
        raise BadSetting("the port is in use")

    monkeypatch.setattr(app, "_listen", no_port)
    ports = dict.fromkeys(("port", "duel_port", "boats_port", "bomber_port", "cube_port"), 0)
    with pytest.raises(BadSetting, match="in use"):
        await app.serve(load_settings(ports | {"db": f"sqlite:///{tmp_path}/test.db"}), print)
    assert warm == [False]


async def test_a_server_without_its_store_is_not_ready_but_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probes, "KEPT_FOR", 0.0)
    async with server(tmp_path) as house, httpx.AsyncClient(base_url=house.url) as http:
        assert (await http.get("/readyz")).status_code == 200
        await house.arena.store.close()
        answer = await http.get("/readyz")
        assert (answer.status_code, answer.text) == (503, "the store cannot be written\n")
        assert (await http.get("/healthz")).status_code == 200
