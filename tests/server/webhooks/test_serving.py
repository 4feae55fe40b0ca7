"""Webhooks of a running server: set over REST, by a document and on the command line."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from botdrome.app import RunningServer
from botdrome.contest.document import to_toml
from botdrome.server.calling import webhooks
from botdrome.server.calling.webhooks import QUEUE
from botdrome.server.network.limits import Buckets
from tests.cli.commands import run_beside
from tests.docs.pages import blocks
from tests.patience import until
from tests.server.calling.hosts import Asked, Host, answer, host
from tests.server.clients import PATIENCE, bot, deaf_port, play_noughts, registered, server
from tests.server.contests.entrants import CUP, entered, play_all
from tests.server.nodes.serving import home_of, nodes, spread_out
from tests.server.nodes.test_shared_state import die

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "LOOK", 0.01)


class Rest(httpx.AsyncClient):
    def __init__(self, house: RunningServer, token: str) -> None:
        super().__init__(
            base_url=f"{house.url}/api/v1",
            headers={"authorization": f"Bearer {token}"},
            timeout=PATIENCE,
        )

    async def told(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        found = await self.request(method, path, json=body)
        return found.status_code, found.json()


async def play(house: RunningServer, login: dict[str, Any], **more: Any) -> None:
    async with bot(house, login | {"opponent": "house:random"} | more) as one:
        await play_noughts(one, login["name"])


def events(receiver: Host) -> list[str]:
    return [json.loads(asked.body)["event"] for asked in receiver.asked]


async def test_an_author_is_told_of_the_matches_of_a_bot_after_they_are_stored(
    tmp_path: Path,
) -> None:
    stored: list[Any] = []
    async with server(tmp_path, network_public_url="https://x.org/") as house:

        async def look(writer: asyncio.StreamWriter, asked: Asked) -> None:
            match = json.loads(asked.body)["match"]["id"]
            stored.append(await house.arena.store.match(match))
            writer.write(answer())

        async with host(look) as receiver:
            ada, bob = [await registered(house, name) for name in ("ada", "bob")]
            async with Rest(house, ada["password"]) as rest:
                status, made = await rest.told("PUT", "/webhooks/bots/ada", {"url": receiver.url})
                assert status == 200 and made["secret"].startswith("whsec_")
                await play(house, bob)
                await play(house, ada)
                await until(lambda: stored)
                assert stored[0].status == "ended" and "ada" in stored[0].players
                (body,) = [json.loads(asked.body) for asked in receiver.asked]
                assert body["url"] == f"https://x.org/matches/{stored[0].id}"
                while not (shown := (await rest.told("GET", "/webhooks/bots/ada"))[1])[
                    "deliveries"
                ]:
                    await asyncio.sleep(0.01)
                (line,) = shown["deliveries"]
                assert (line["id"], line["state"]) == (body["id"], "delivered")
                assert "secret" not in shown and made["secret"] not in json.dumps(shown)


async def test_only_the_holder_of_a_token_and_the_operator_use_a_webhook(tmp_path: Path) -> None:
    async with server(tmp_path) as house, host() as receiver:
        ada, bob = [await registered(house, name) for name in ("ada", "bob")]
        url = {"url": receiver.url}
        async with Rest(house, bob["password"]) as other:
            for method in ("GET", "PUT", "POST", "DELETE"):
                body = url if method == "PUT" else None
                for subject in ("bots/ada", "all", "contests/cup", ""):
                    status, _ = await other.told(method, f"/webhooks/{subject}", body)
                    assert status in (401, 404, 405), (method, subject)
            assert (await other.told("GET", "/webhooks"))[0] == 401
        assert not house.arena.webhooks.hooks
        async with Rest(house, ada["password"]) as own:
            status, first = await own.told("PUT", "/webhooks/bots/ada", url)
            _, again = await own.told("PUT", "/webhooks/bots/ada", {})
            assert again["url"] == receiver.url and again["secret"] != first["secret"]
            assert await own.told("POST", "/webhooks/bots/ada") == (200, {"error": ""})
            assert events(receiver) == ["test"]
            refused = await own.told("PUT", "/webhooks/bots/ada", {"url": "http://10.0.0.1/"})
            assert refused[0] == 422 and refused[1]["error"].startswith("webhook: 10.0.0.1 may")
        async with Rest(house, house.new_operator_token) as operator:
            assert (await operator.told("PUT", "/webhooks/all", url))[0] == 200
            _, listed = await operator.told("GET", "/webhooks")
            assert [one["subject"] for one in listed["webhooks"]] == ["all", "bots/ada"]
            for subject in ("bots/nobody", "contests/none", "else"):
                assert (await operator.told("PUT", f"/webhooks/{subject}", url))[0] == 404
            status, removed = await operator.told("DELETE", "/webhooks/bots/ada")
            assert status == 200 and removed["subject"] == "bots/ada"
            assert (await operator.told("GET", "/webhooks/bots/ada"))[0] == 404
            _, audit = await operator.told("GET", "/operator/audit")
            noted = [(one["action"], one["target"]) for one in audit["entries"]]
            assert noted == [("remove webhook", "bots/ada"), ("set webhook", "all")]


async def test_a_document_sets_the_webhook_of_its_contest_and_hides_it(tmp_path: Path) -> None:
    async with server(tmp_path) as house, host() as receiver:
        house.desk.workers.start()
        async with Rest(house, house.new_operator_token) as operator:
            document = CUP | {"webhook": "http://10.0.0.1/"}
            refused = await operator.told("POST", "/operator/contests", {"document": document})
            assert refused[0] == 422 and "10.0.0.1 may not be called" in refused[1]["error"]
            document["webhook"] = receiver.url
            made = await operator.told("POST", "/operator/contests", {"document": document})
            assert made[0] == 201 and receiver.url not in json.dumps(made)
            secret = house.arena.webhooks.hooks["contests/cup"].secret
            changed = await operator.told(
                "PUT", "/operator/contests/cup", {"document": document | {"title": "@here"}}
            )
            assert changed[0] == 200
            assert house.arena.webhooks.hooks["contests/cup"].secret == secret, "the same URL"
            entry = await house.contests.journal.entry("cup")
            assert receiver.url not in to_toml(entry.document)
            await house.contests.act("cup", "open", "operator")
            logins = await entered(house, "ada", "bob")
            await house.contests.act("cup", "start", "operator")
            await house.contests.act("cup", "pause", "operator")
            await house.contests.act("cup", "resume", "operator")
            await play_all(house, logins)
            await until(lambda: len(receiver.asked) == 4)
            assert sorted(events(receiver)) == [
                "contest.ended",
                "contest.started",
                "match.ended",
                "match.ended",
            ]
            first = json.loads(receiver.asked[0].body)
            assert first["event"] == "contest.started"
            assert first["text"] == "noughts-and-crosses: the contest \uff20here has started"
            assert first["contest"] == {
                "name": "cup", "title": "@here", "game": "noughts-and-crosses"
            }  # fmt: skip


async def test_a_restart_of_the_server_loses_no_delivery(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "SHORTEST_PAUSE", 0)
    with deaf_port() as port:
        async with server(tmp_path) as house:
            await house.arena.webhooks.set("all", f"http://127.0.0.1:{port}/", "")
            await play(house, await registered(house, "ada"))
            assert len(await house.arena.store.notes(QUEUE)) == 1
    async with host() as receiver:
        monkeypatch.setattr(
            "botdrome.server.calling.webhooks.Webhooks._call",
            _at(receiver.url, webhooks.Webhooks._call),
        )
        async with server(tmp_path):
            await until(lambda: receiver.asked)
        assert events(receiver) == ["match.ended"]


def _at(url: str, call: Any) -> Any:
    """The call, with the receiver at this URL."""

    def elsewhere(self: Any, hook: Any, delivery: Any) -> Any:
        return call(self, webhooks.Webhook(hook.subject, url, hook.secret), delivery)

    return elsewhere


async def test_a_server_without_webhooks_does_nothing_for_them(tmp_path: Path) -> None:
    async with server(tmp_path) as house, host() as receiver:
        hooks, tables = house.arena.webhooks, house.desk.tables
        assert tables._clearing.notes is None and not hooks._tasks
        await hooks.set("all", receiver.url, "")
        assert tables._clearing.notes is not None and hooks._tasks
        await hooks.remove("all")
        assert tables._clearing.notes is None
        await play(house, await registered(house, "ada"))
        assert await house.arena.store.notes(QUEUE) == {}


async def test_an_author_uses_webhooks_from_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    async with server(tmp_path) as house, host() as receiver:
        options = ("--server", house.url)
        await run_beside("bots", "register", "gomoku", "a/b c", *options)
        subject = "bots/a/b c"
        made = await run_beside("webhooks", "set", subject, receiver.url, *options)
        assert made.exit_code == 0 and made.stdout.startswith("whsec_"), made.output
        tested = await run_beside("webhooks", "test", subject, *options)
        assert tested.stdout == "bots/a/b c: the receiver has answered.\n"
        shown = await run_beside("webhooks", "show", subject, *options)
        assert shown.stdout.startswith(f"bots/a/b c: {receiver.url}\n")
        everything = ("show", *options, "--token", house.new_operator_token, "--json")
        listed = await run_beside("webhooks", *everything)
        assert [one["subject"] for one in json.loads(listed.stdout)["webhooks"]] == [subject]
        removed = await run_beside("webhooks", "remove", subject, *options)
        assert removed.exit_code == 0 and not house.arena.webhooks.hooks
        nobody = await run_beside("webhooks", "test", subject, *options)
        assert nobody.exit_code == 1 and "there is no webhook 'bots/a/b c'" in nobody.stderr
        with deaf_port() as port:
            await run_beside("webhooks", "set", subject, f"http://127.0.0.1:{port}/", *options)
            failed = await run_beside("webhooks", "test", subject, *options)
        assert failed.exit_code == 1 and "refused the connection" in failed.stderr
        without = await run_beside("webhooks", "show", "all", *options)
        assert without.exit_code == 2 and "the operator's token is needed" in without.stderr


async def test_one_node_delivers_and_another_goes_on_when_it_dies(
    postgres_url: str, nats_url: str
) -> None:
    async with nodes(postgres_url, nats_url, 2) as two, host() as receiver:
        await spread_out(two)
        home = home_of(two, webhooks.HOME)
        (other,) = [one for one in two if one is not home]
        await other.arena.webhooks.set("all", receiver.url, "")
        assert "all" in home.arena.webhooks.hooks, "all nodes know it at once"
        assert home.arena.webhooks._tasks and not other.arena.webhooks._tasks
        for node, name in ((home, "ada"), (other, "bob")):
            await play(node, await registered(node, name))
        await until(lambda: len(receiver.asked) == 2)
        ids = [asked.headers["webhook-id"] for asked in receiver.asked]
        assert len(set(ids)) == 2
        await die(home)
        home.arena.webhooks.leave()  # a dead node calls nobody
        await until(lambda: other.arena.webhooks._tasks)
        await play(other, await registered(other, "eve"))
        await until(lambda: len(receiver.asked) == 3)


async def test_the_receiver_of_the_page_checks_the_signature(tmp_path: Path) -> None:
    (code,) = blocks("webhooks.md", "python")
    file = tmp_path / "receiver.py"
    file.write_text(code)
    async with server(tmp_path) as house, host() as other:
        secret = (await house.arena.webhooks.set("all", other.url, "")).secret
        await play(house, await registered(house, "ada"))
        await until(lambda: other.asked)
        asked = other.asked[0]
        process = await asyncio.create_subprocess_exec(
            "python3", str(file), stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, env={"WEBHOOK_SECRET": secret, "PORT": "0"},
        )  # fmt: skip
        try:
            assert process.stdout is not None
            url = (await process.stdout.readline()).decode().strip()
            signed = {
                name: value for name, value in asked.headers.items() if name.startswith("webhook")
            }
            async with httpx.AsyncClient(timeout=PATIENCE) as web:

                async def status(body: bytes, **changes: str) -> int:
                    headers = signed | {f"webhook-{key}": one for key, one in changes.items()}
                    return (await web.post(url, content=body, headers=headers)).status_code

                stale = str(int(signed["webhook-timestamp"]) - 600)
                assert await status(asked.body + b" ") == 403
                assert await status(asked.body, id="other") == 403
                assert await status(asked.body, timestamp=stale) == 403
                assert await status(asked.body) == 204
                assert await status(asked.body) == 204, "a repetition is accepted, and dropped"
            process.terminate()
            said = (await process.stdout.read()).decode()
            assert said == json.loads(asked.body)["text"] + "\n"
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


async def test_a_webhook_is_not_changed_too_often(tmp_path: Path) -> None:
    async with server(tmp_path) as house, host() as receiver:
        house.arena.webhooks.requests = Buckets(1e-6, 2)
        ada, bob = [await registered(house, name) for name in ("ada", "bob")]
        url = {"url": receiver.url}
        async with Rest(house, ada["password"]) as own, Rest(house, bob["password"]) as other:
            assert (await own.told("PUT", "/webhooks/bots/ada", url))[0] == 200
            assert (await own.told("POST", "/webhooks/bots/ada"))[0] == 200
            for method, body in (("PUT", url), ("POST", None)):
                status, refused = await own.told(method, "/webhooks/bots/ada", body)
                assert status == 429 and "try again in" in refused["error"]
            assert events(receiver) == ["test"]
            assert (await other.told("PUT", "/webhooks/bots/bob", url))[0] == 200


async def test_the_operators_token_is_no_wrong_token_of_a_bot(tmp_path: Path) -> None:
    async with server(tmp_path) as house, host() as receiver:
        await registered(house, "ada")
        wrong = house.desk.registry.guesses._wrong.known
        async with Rest(house, house.new_operator_token) as operator:
            made = await operator.told("PUT", "/webhooks/bots/ada", {"url": receiver.url})
            assert made[0] == 200 and not wrong
        async with Rest(house, "guess") as stranger:
            assert (await stranger.told("GET", "/webhooks/bots/ada"))[0] == 401 and wrong


async def test_a_contest_goes_on_though_its_webhook_cannot_be_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with server(tmp_path) as house, host() as receiver:
        attended: list[bool] = []

        async def fail(*_: object) -> None:
            attended.append(house.contests.running("cup") is not None)
            raise OSError

        monkeypatch.setattr(house.arena.webhooks, "set", fail)
        async with Rest(house, house.new_operator_token) as operator:
            document = {"document": CUP | {"webhook": receiver.url}}
            assert (await operator.told("POST", "/operator/contests", document))[0] == 201
            assert (await operator.told("PUT", "/operator/contests/cup", document))[0] == 200
        assert attended == [True, True]
