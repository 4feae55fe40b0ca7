"""Clients that come to the node of their table: when they log in again, and what
becomes of them.
"""

import asyncio
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect

from botdrome.app import RunningServer
from botdrome.server import battlebot
from botdrome.server.lobby.bans import Bans
from botdrome.server.lobby.registry import Registry
from botdrome.server.nodes.moving import Handover
from botdrome.server.nodes.rooms import Cluster
from botdrome.store.entries import BotEntry
from tests.patience import until
from tests.server.clients import NOTICES, Client, bot, play_noughts, registered, unhurried
from tests.server.nodes.draining import GAME, chatting, of
from tests.server.nodes.serving import nodes

pytestmark = pytest.mark.anyio


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of bots whose tokens were checked, at any node."""
    names: list[str] = []
    passed = Registry._passed

    def note(self: Registry, found: BotEntry) -> BotEntry:
        names.append(found.name)
        return passed(self, found)

    monkeypatch.setattr(Registry, "_passed", note)
    return names


async def test_a_client_logs_in_once(three: list[RunningServer], checked: list[str]) -> None:
    async with chatting(three) as match:
        assert sorted(checked) == ["ada", "bob"]
        await match.finish()


async def test_a_client_that_is_banned_on_the_way_is_removed(
    two: list[RunningServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    give = Handover.give

    def ban(self: Handover, *words: Any) -> bool:
        monkeypatch.setattr(Bans, "refusal", lambda *_: "it cheats")
        return give(self, *words)

    monkeypatch.setattr(Handover, "give", ban)
    ada, bob = [await registered(two[0], name) | NOTICES for name in ("ada", "bob")]
    async with bot(two[0], ada) as one, bot(two[1], bob) as other:
        ends = [asyncio.ensure_future(each.until_closed()) for each in (one, other)]
        done, waiting = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in waiting:  # the client at the home of their wish does not move
            end.cancel()
        assert [end.result()[0][-1] for end in done] == [{"error": "it cheats"}]


async def test_a_client_whose_token_is_changed_on_the_way_is_removed(
    two: list[RunningServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(battlebot, "may_log_in", lambda *_: False)  # as seen after the move
    ada, bob = [await registered(two[0], name) for name in ("ada", "bob")]
    async with bot(two[0], ada) as one, bot(two[1], bob) as other:
        ends = [asyncio.ensure_future(each.until_closed()) for each in (one, other)]
        told = [(await end)[0][-1] for end in ends]
    results = [one["state"]["result"] for one in told if "state" in one]
    assert [result["reason"] for result in results if result] == ["disconnect"]


async def test_a_client_with_tls_is_piped(
    postgres_url: str, nats_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its socket cannot be handed over, and the pipe has TLS as well."""
    cert, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    await asyncio.to_thread(
        subprocess.run,
        [*make, "-subj", "/CN=localhost", "-keyout", key, "-out", cert],
        check=True,
        capture_output=True,
    )
    trusting = ssl.create_default_context(cafile=cert)
    trusting.check_hostname = False
    monkeypatch.setattr(Cluster, "home", lambda cluster, _: min(cluster.members.nodes))
    with unhurried(GAME):
        async with nodes(postgres_url, nats_url, 2, tls_cert=cert, tls_key=key) as (ant, bee):
            logins = [await registered(ant, name) for name in ("ada", "bob")]
            url = bee.url.replace("https", "wss", 1)
            async with (
                connect(url, ssl=trusting, proxy=None) as one,
                connect(url, ssl=trusting, proxy=None) as two,
            ):
                clients = Client(one), Client(two)
                for client, login in zip(clients, logins, strict=True):
                    await client.send(login)
                    assert (await client.receive())["authentication"] == "OK"
                await until(lambda: of(ant).mover.piped == of(bee).mover.piped == 2)
                plays = [play_noughts(*each) for each in zip(clients, ("ada", "bob"), strict=True)]
                first, second = await asyncio.gather(*plays)
                assert first["state"]["result"] == second["state"]["result"]
