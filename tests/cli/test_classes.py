"""`botdrome class`: an organiser's commands, and a participant's."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from typer.testing import Result

from botdrome.app import RunningServer
from botdrome.client.kept_tokens import KeptOwner, kept_bots, kept_owners, owners_file
from tests.cli.commands import run, run_beside
from tests.server.clients import server
from tests.server.operator.clients import TOKEN

pytestmark = pytest.mark.anyio


@pytest.fixture
async def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RunningServer]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("BOTDROME_OPERATOR_TOKEN", TOKEN)
    async with server(tmp_path, operator_token=TOKEN) as house:
        monkeypatch.setenv("BOTDROME_SERVER", house.url)
        yield house


async def done(*words: str) -> Result:
    result = await run_beside("class", *words)
    assert result.exit_code == 0, result.stderr
    return result


async def created() -> str:
    """The code of a new class."""
    return str(json.loads((await done("create", "Robots", "--json")).stdout)["code"])


async def test_an_organiser_creates_shows_and_lists_classes(house: RunningServer) -> None:
    said = (await done("create", "Robots", "--hours", "2")).stdout.splitlines()
    code = said[1].removeprefix("join code: ")[:14]
    assert said[0] == "Robots: 0 participants"
    assert said[1].startswith(f"join code: {code}, valid until 20") and said[1].endswith(" UTC")
    assert said[2] == (
        f"to join: {house.url}/join-class or botdrome class join {code} --server {house.url}"
    )
    await done("join", code, "--name", "Ada")
    assert (await done("show", "Robots")).stdout.splitlines()[0] == "Robots: 1 participant"
    assert "  Ada: no bots yet" in (await done("show", "Robots")).stdout
    listed = (await done("list")).stdout.splitlines()
    assert listed[0].split() == ["code", "participants", "code", "valid", "until", "class"]
    assert listed[1].split()[:2] == [code, "1"] and listed[1].endswith("  Robots")
    assert json.loads((await done("list", "--json")).stdout)["total"] == 1
    assert "closed" in (await done("close", "Robots")).stdout
    assert "  closed  " in (await done("list")).stdout
    again = (await done("reset", "Robots")).stdout
    assert code not in again and "valid until" in again


async def test_a_participant_is_renamed_merged_and_removed(house: RunningServer) -> None:
    code = await created()
    for name in ("Ada", "Bob", "Bob 2"):
        await done("join", code, "--name", name)
    await done("rename", "Robots", "Ada", "Eva")
    await done("merge", "Robots", "Bob 2", "Bob")
    said = (await done("show", "Robots")).stdout
    assert "Eva" in said and "Ada" not in said and "Bob 2" not in said
    assert "Eva" not in (await done("remove", "Robots", "Eva")).stdout
    assert "The class Robots is deleted." in (await done("delete", "Robots")).stderr
    refused = await run_beside("class", "show", "Robots")
    assert (refused.exit_code, refused.stderr) == (1, "botdrome: there is no class 'Robots'\n")


async def test_a_participant_keeps_its_token_and_owns_its_new_bots(house: RunningServer) -> None:
    joined = await done("join", await created(), "--name", "Ada")
    assert joined.stdout == "Ada is in the class Robots.\n"
    kept = kept_owners()[house.url]
    assert (kept.class_name, kept.name) == ("Robots", "Ada")
    assert owners_file().stat().st_mode & 0o777 == 0o600
    for words in (["gomoku", "ada-1"], ["gomoku", "free", "--owner", "me"]):
        assert (await run_beside("bots", "register", *words)).exit_code == 0
    bots = {bot.name: bot.owner for bot in await house.arena.store.bots()}
    assert bots == {"ada-1": "Ada @ Robots", "free": "me"}


async def test_a_token_that_is_refused_is_kept(house: RunningServer) -> None:
    await done("join", await created(), "--name", "Ada")
    await done("remove", "Robots", "Ada")
    refused = await run_beside("bots", "register", "gomoku", "ada-1")
    assert refused.exit_code == 1
    assert "this is not the token of a participant" in refused.stderr
    assert f"The token of Ada in the class Robots is kept in {owners_file()}" in refused.stderr
    assert kept_owners()[house.url].name == "Ada" and kept_bots().get(house.url, {}) == {}
    registered = await run_beside("bots", "register", "gomoku", "ada-1", "--owner", "Ada")
    assert registered.exit_code == 0


async def test_a_closed_class_is_told_as_such(house: RunningServer) -> None:
    """Though the status is that of a name that is taken."""
    await done("join", await created(), "--name", "Ada")
    await done("close", "Robots")
    refused = await run_beside("bots", "register", "gomoku", "ada-1")
    assert (refused.exit_code, refused.stderr) == (1, "botdrome: the class 'Robots' is closed\n")


async def test_a_name_that_is_taken_leaves_the_kept_token_alone(house: RunningServer) -> None:
    code = await created()
    await done("join", code, "--name", "Ada")
    before: KeptOwner = kept_owners()[house.url]
    refused = await run_beside("class", "join", code, "--name", "Ada")
    assert refused.exit_code == 1 and "the name 'Ada' is taken" in refused.stderr
    assert (await run_beside("bots", "register", "gomoku", "bot")).exit_code == 0
    refused = await run_beside("bots", "register", "gomoku", "bot")
    assert refused.exit_code == 1 and "is taken" in refused.stderr
    assert kept_owners() == {house.url: before}


def test_an_organiser_needs_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BOTDROME_OPERATOR_TOKEN", raising=False)
    refused = run("class", "create", "Robots")
    assert (refused.exit_code, "the operator's token is needed" in refused.stderr) == (2, True)
