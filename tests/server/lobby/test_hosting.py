"""Hosting on a real server, with runners that are clients of REST alone: uploads, leases, and the
logins of hosted bots.
"""

import asyncio
import hashlib
import json
from base64 import b64decode
from collections.abc import AsyncIterator
from pathlib import Path
from time import time
from typing import Any

import httpx
import pytest

from botdrome.app import RunningServer
from botdrome.server.calling.webhooks import QUEUE
from botdrome.server.lobby import hosting
from botdrome.server.lobby.clients import bot_owner
from botdrome.server.lobby.hosting import LEASE
from botdrome.store.entries import Wanted
from botdrome.wire.upload import PackedFile, RunnerMachine, packed
from tests.kit.hosted import FIRST_FREE, Author
from tests.patience import until
from tests.server.clients import bot, client, play_noughts, registered, server

pytestmark = pytest.mark.anyio
ARCHIVE = packed({"bot.py": PackedFile(FIRST_FREE.encode())})


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[RunningServer]:
    async with server(tmp_path, hosting_uploads="everybody", operator_token="operator") as running:
        yield running


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A beat without news returns at once."""
    monkeypatch.setattr(hosting, "PATIENCE", 0.0)


async def ask(house: RunningServer, method: str, path: str, token: str, body: Any = None) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient() as http:
        answer = await http.request(
            method, f"{house.url}/api/v1/{path}", json=body, headers=headers
        )
    return answer.json() | {"status": answer.status_code}


class TestRunner:
    __test__ = False

    def __init__(self, house: RunningServer, token: str) -> None:
        self._house, self._token = house, token
        self.held: list[str] = []
        self.class_name = "fast"

    @classmethod
    async def new(
        cls, house: RunningServer, name: str = "one", token: str = "operator"
    ) -> "TestRunner":
        answer = await ask(house, "POST", "operator/runners", token, {"name": name})
        return cls(house, answer["token"])

    async def beat(self, checks: int = 1, bots: int = 1) -> Any:
        machine = {"about": "a test", "runnerClass": self.class_name, "speed": 1.5}
        body = {"machine": machine, "held": self.held, "checks": checks, "bots": bots}
        answer = await ask(self._house, "POST", "runner/beats", self._token, body)
        for lease in answer.get("given", ()):
            self.held.append(hashlib.sha256(lease["credential"].encode()).hexdigest())
        self.held = [lease for lease in self.held if lease not in answer.get("lost", ())]
        return answer

    async def lease(self) -> str:
        """The credential of a new lease."""
        (lease,) = (await self.beat())["given"]
        return str(lease["credential"])

    async def accept(self) -> str:
        """Accept the waiting version, and return the credential to play it."""
        credential = await self.lease()
        body = {"accepted": True, "report": "fine"}
        await ask(self._house, "POST", "runner/reports", credential, body)
        self.held.clear()
        return await self.lease()


def login(token: str) -> dict[str, Any]:
    return {
        "gameType": "NOUGHTS_AND_CROSSES", "name": "ada", "password": token,
        "features": ["notices"],
    }  # fmt: skip


async def refusal(house: RunningServer, token: str) -> str:
    async with client(house) as one:
        await one.send(login(token))
        answers, _, reason = await one.until_closed()
        return f"{answers} {reason}"


async def test_while_a_bot_is_hosted_only_its_lease_logs_in(house: RunningServer) -> None:
    ada, one = await Author.of_new_bot(house), await TestRunner.new(house)
    async with bot(house, login(ada.token)) as by_itself:
        await ada.push()
        credential = await one.accept()
        await by_itself.until_closed()  # it is hosted now
    assert "ada is hosted here" in await refusal(house, ada.token)
    async with bot(house, login(credential)):
        pass
    assert "hosted" not in await refusal(house, "wrong")
    assert (await ada.ask("GET")).status_code == 200, "its own token still reads its versions"
    assert (await ada.ask("GET", token=credential)).status_code == 403, "and no other does"


async def test_a_new_token_does_not_end_the_login_of_a_lease(house: RunningServer) -> None:
    """An author whose bot loses could have the match played again."""
    ada, one = await Author.of_new_bot(house), await TestRunner.new(house)
    await ada.push()
    async with bot(house, login(await one.accept())) as playing:
        hosted = await house.arena.store.bot("ada")
        assert hosted is not None
        await house.arena.rotate(hosted)
        async with bot(house, await registered(house, "bob") | {"opponent": "ada"}):
            assert {*(await playing.receive())["state"]["bots"]} == {"ada", "bob"}


async def test_a_lease_that_expires_ends_the_login_and_its_credential(
    house: RunningServer,
) -> None:
    ada, one = await Author.of_new_bot(house), await TestRunner.new(house)
    await ada.push()
    credential = await one.accept()
    async with bot(house, login(credential)) as playing:
        house.arena.hosting.clock = lambda: time() + LEASE + 1
        other = await TestRunner.new(house, "other")
        second = await other.lease()
        await playing.until_closed()
    assert "hosted" not in await refusal(house, credential)
    async with bot(house, login(second)):
        pass
    assert len((await one.beat())["lost"]) == 1
    report = {"accepted": True, "report": ""}
    assert (await ask(house, "POST", "runner/reports", credential, report))["status"] == 409
    assert (await ask(house, "GET", "runner/archive", credential))["status"] == 404


async def test_a_match_that_a_runner_leaves_is_void_and_a_runner_that_often_does_so_rests(
    house: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "MOST_VOID", 1)
    ada, one = await Author.of_new_bot(house), await TestRunner.new(house)
    await ada.push()
    credential = await one.accept()
    bob = await registered(house, "bob") | {"opponent": "ada"}
    async with bot(house, login(credential)), bot(house, bob) as other:
        await other.receive()
        (entry,) = await house.arena.store.matches(Wanted())
        house.arena.hosting.clock = lambda: time() + LEASE + 1
        await (await TestRunner.new(house, "two")).beat(0, 0)
        last = await play_noughts(other, "bob")
    told = await ask(house, "GET", f"matches/{entry.id}", "none")
    assert last["state"]["result"]["victor"] == "bob" == told["result"]["victor"], "as it was told"
    assert told["void"] == "the runner of ada was lost or stopped"
    board = await ask(house, "GET", "games/noughts-and-crosses/leaderboard", "none")
    assert board["matches"] == 0
    lines = (await ask(house, "GET", "operator/runners", "operator"))["runners"]
    paused = {line["name"]: line["paused"] for line in lines}
    assert paused["two"] == "" and "left its matches 1 times within an hour" in paused["one"]
    assert (await one.beat())["given"] == []
    house.arena.hosting.clock = lambda: time() + hosting.VOID_WITHIN / 1000 + LEASE + 2
    assert len((await one.beat())["given"]) == 1, "an hour later it gets work again"


async def test_webhooks_tell_what_became_of_a_version(house: RunningServer) -> None:
    ada, one = await Author.of_new_bot(house), await TestRunner.new(house)
    entry = await house.arena.store.bot("ada")
    assert entry is not None
    hooks = house.arena.webhooks
    hooks.leave()  # what is to be told stays in the store
    await hooks.set("bots/ada", "http://127.0.0.1:8080/", bot_owner(entry))
    await ada.push(version="1")
    credential = await one.accept()
    await ask(house, "POST", "runner/pauses", credential, {"why": "it failed\ntraceback"})
    await ada.push(version="2")
    refused = {"accepted": False, "report": "crash: boom"}
    await ask(house, "POST", "runner/reports", await one.lease(), refused)
    told = [json.loads(one["body"]) for one in (await house.arena.store.notes(QUEUE)).values()]
    assert [(one["event"], one["text"]) for one in told] == [
        ("version.accepted", "noughts-and-crosses: ada 1 accepted: fine"),
        ("bot.paused", "noughts-and-crosses: ada 1 paused: it failed"),
        ("version.rejected", "noughts-and-crosses: ada 2 rejected: crash: boom"),
    ]
    assert told[1]["bot"]["why"] == "it failed\ntraceback"


async def test_the_server_ends_leases_even_if_no_runner_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "LEASE", 0.001)
    async with server(tmp_path, hosting_uploads="everybody", operator_token="operator") as house:
        ada, one = await Author.of_new_bot(house), await TestRunner.new(house)
        await ada.push()
        assert len((await one.beat())["given"]) == 1
        await ada.until(runner=None)


async def test_a_server_without_uploads_ends_the_leases_of_an_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with server(tmp_path, hosting_uploads="everybody", operator_token="operator") as house:
        ada, one = await Author.of_new_bot(house), await TestRunner.new(house)
        await ada.push()
        await one.accept()
    monkeypatch.setattr(hosting, "LEASE", 0.001)
    async with server(tmp_path, hosting_uploads="off") as house:
        house.arena.hosting.clock = lambda: time() + 3600
        await Author(house, "ada", ada.token).until(runner=None)


async def test_the_server_looks_for_expired_leases_again_after_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "LEASE", 0.001)
    failures = []

    async def fail(*_: object) -> None:
        failures.append(1)
        raise ValueError("a fault")

    async with server(tmp_path) as house:
        monkeypatch.setattr(house.arena.hosting, "_beat", fail)
        await until(lambda: len(failures) > 1)


async def test_an_archive_is_for_the_runner_that_has_its_lease(house: RunningServer) -> None:
    ada, one = await Author.of_new_bot(house), await TestRunner.new(house)
    await ada.push()
    (lease,) = (await one.beat())["given"]
    answer = await ask(house, "GET", "runner/archive", lease["credential"])
    assert b64decode(answer["data"]) == ARCHIVE
    for other in (ada.token, lease["hash"], "wrong"):
        assert (await ask(house, "GET", "runner/archive", other))["status"] == 404
    assert (await ask(house, "POST", "runner/beats", ada.token, {}))["status"] in (400, 401)
    assert "hosted" not in await refusal(house, lease["credential"]), "a check is no login"


async def test_new_work_ends_the_wait_of_a_runner(
    house: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "PATIENCE", 600.0)
    ada, one = await Author.of_new_bot(house), await TestRunner.new(house)
    waiting = asyncio.ensure_future(one.lease())
    await until(lambda: house.arena.hosting._machines)
    await ada.push()
    await waiting


async def test_who_may_upload(tmp_path: Path) -> None:
    for setting, statuses in (("off", [403, 403]), ("invited", [201, 403])):
        folder = tmp_path / setting
        folder.mkdir()
        async with server(folder, hosting_uploads=setting, operator_token="operator") as house:
            ada, bob = [await Author.of_new_bot(house, name) for name in ("ada", "bob")]
            await ask(house, "PUT", "operator/invitations", "operator", {"bot": "ada"})
            answers = [await one.ask("POST", content=ARCHIVE) for one in (ada, bob)]
            assert [one.status_code for one in answers] == statuses
            body = {"bot": "ada", "invited": False}
            await ask(house, "PUT", "operator/invitations", "operator", body)
            assert (await ada.ask("POST", content=ARCHIVE)).status_code == 403
            body = {"bot": "nobody"}
            path = "operator/invitations"
            assert (await ask(house, "PUT", path, "operator", body))["status"] == 404


async def test_uploads_are_limited(tmp_path: Path) -> None:
    limits: Any = {"hosting_packed": 1024, "hosting_unpacked": 2048, "hosting_files": 2}
    async with server(tmp_path, hosting_uploads="everybody", hosting_per_day=2, **limits) as house:
        ada = await Author.of_new_bot(house)
        for files, words in (
            ({"a": b"", "b": b"", "c": b""}, "it has 3 files; at most 2 are allowed"),
            ({"a": bytes(3000)}, "its files have 3000 bytes; at most 2048 are allowed"),
            ({"../a": b""}, "leads out of the folder"),
        ):
            archive = packed({path: PackedFile(data) for path, data in files.items()})
            answer = await ada.ask("POST", content=archive)
            assert answer.status_code == 422 and words in answer.json()["error"]
        assert (await ada.ask("POST", content=bytes(2000))).status_code == 422
        assert (await ada.ask("POST", content=bytes(17 << 20))).status_code == 413
        odd = await ada.ask("POST", content=ARCHIVE, params={"version": "x" * 65})
        assert odd.status_code == 400
        for status in (201, 201, 409):
            assert (await ada.ask("POST", content=ARCHIVE)).status_code == status
        another = packed({"bot.py": PackedFile(b"another")})
        assert (await ada.ask("POST", content=another)).status_code == 409
        rows = await house.arena.store.uploads._fetch("SELECT hash FROM archives", {})
        assert [row[0] for row in rows] == [hashlib.sha256(ARCHIVE).hexdigest()]
        assert (await ada.ask("POST", token="wrong", content=ARCHIVE)).status_code == 403
        nobody = Author(house, "nobody", "token")
        assert (await nobody.ask("POST", content=ARCHIVE)).status_code == 404


async def test_the_operator_adds_lists_and_removes_runners(house: RunningServer) -> None:
    ada, one = await Author.of_new_bot(house), await TestRunner.new(house)
    await ada.push()
    credential = await one.accept()
    (line,) = (await ask(house, "GET", "operator/runners", "operator"))["runners"]
    assert (line["name"], line["about"], line["bots"]) == ("one", "a test", 1)
    assert (line["runnerClass"], line["speed"]) == ("fast", 1.5)
    assert (await ada.uploads())[0]["runnerClass"] == "fast"
    async with bot(house, login(credential)) as playing:
        gone = await ask(house, "DELETE", "operator/runners", "operator", {"name": "one"})
        assert gone["runners"] == []
        await playing.until_closed()
    assert (await one.beat())["status"] == 401
    again = await ask(house, "DELETE", "operator/runners", "operator", {"name": "one"})
    assert again["status"] == 404
    audit = await ask(house, "GET", "operator/audit", "operator")
    assert [entry["action"] for entry in audit["entries"]] == ["remove runner", "add runner"]


async def test_a_bot_that_the_server_calls_is_not_hosted(house: RunningServer) -> None:
    ada = await Author.of_new_bot(house)
    await house.arena.store.change_url("ada", "http://127.0.0.1:1/")
    answer = await ada.ask("POST", content=ARCHIVE)
    assert answer.status_code == 409 and "remove the URL first" in answer.json()["error"]


async def test_a_hosted_bot_gets_no_url(house: RunningServer) -> None:
    ada, one = await Author.of_new_bot(house), await TestRunner.new(house)
    await ada.push()
    await one.accept()
    answer = await ada.ask("PUT", "bots", json={"url": "http://127.0.0.1:1/"})
    assert answer.status_code == 409 and "ada is hosted here" in answer.json()["error"]


async def test_a_hosted_bot_whose_token_is_revoked_plays_no_more(house: RunningServer) -> None:
    ada, one = await Author.of_new_bot(house), await TestRunner.new(house)
    await ada.push()
    credential = await one.accept()
    entry = await house.arena.store.bot("ada")
    assert entry is not None
    async with bot(house, login(credential)) as playing:
        await house.arena.revoke(entry)
        await playing.until_closed()
    with pytest.raises(Exception, match="its token is needed"):
        await house.desk.registry.admit("ada", credential, "noughts-and-crosses")
    assert (await one.beat())["ending"] == one.held
    one.held.clear()
    assert (await one.beat())["given"] == []


async def test_to_delete_the_version_that_plays_ends_its_login(house: RunningServer) -> None:
    ada, one = await Author.of_new_bot(house), await TestRunner.new(house)
    await ada.push()
    credential = await one.accept()
    async with bot(house, login(credential)) as playing:
        assert (await ada.ask("DELETE", json={"number": 1})).status_code == 200
        await playing.until_closed()
    assert len((await one.beat())["lost"]) == 1


async def test_a_beat_that_waits_ends_no_lease_of_a_later_one(
    house: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, one = await Author.of_new_bot(house), await TestRunner.new(house)
    await ada.push()
    monkeypatch.setattr(hosting, "PATIENCE", 600.0)
    news: Any = house.arena.hosting._news
    early = asyncio.ensure_future(house.arena.hosting.beat("one", RunnerMachine(), [], 0, 0))
    await until(lambda: news and news["one"]._waiters)
    await one.lease()
    assert (await early).given == []
    monkeypatch.setattr(hosting, "PATIENCE", 0.0)
    assert (await one.beat(0, 0))["lost"] == []


async def test_a_log_is_cut_and_needs_a_lease(house: RunningServer) -> None:
    ada, one = await Author.of_new_bot(house), await TestRunner.new(house)
    await ada.push()
    credential = await one.accept()
    body = {"match": "m", "fault": "", "log": "a" + "b" * hosting.LONGEST_REPORT}
    assert (await ask(house, "POST", "runner/logs", credential, body))["status"] == 200
    assert (await ask(house, "POST", "runner/logs", "wrong", body))["status"] == 409
    (log,) = (await ada.ask("GET", "upload-logs")).json()["logs"]
    assert log["log"] == "b" * hosting.LONGEST_REPORT


async def test_other_protocols_accept_the_lease_and_refuse_the_token(
    house: RunningServer,
) -> None:
    """All protocols recognise tokens in one place."""
    registry = house.desk.registry
    ada, one = await Author.of_new_bot(house), await TestRunner.new(house)
    await ada.push()
    credential = await one.accept()
    admission = await registry.admit("ada", credential, "noughts-and-crosses")
    assert admission.bot is not None
    with pytest.raises(Exception, match="ada is hosted here"):
        await registry.admit("ada", ada.token, "noughts-and-crosses")
    assert (await registered(house, "bob"))["name"] == "bob"
