"""The commands of the page on contests, as an organiser types them."""

from pathlib import Path

import pytest

from tests.cli.commands import run, run_beside
from tests.docs.pages import blocks
from tests.server.clients import server

ONLINE = ("create", "start")


def commands() -> list[list[str]]:
    words = [
        line.split() for block in blocks("running-a-contest.md") for line in block.splitlines()
    ]
    return [
        line[1:]
        for line in words
        if line[:1] == ["botdrome"] and line[1] in ("contest", "verify") and "--key" not in line
    ]


def test_the_offline_part_leads_from_a_document_to_a_verified_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    offline = [command for command in commands() if command[1] not in ONLINE]
    names = [command[1] for command in offline]
    assert names == ["new", "check", "run", "show", "archive", "cup.zip"]
    for command in offline:
        done = run(*command)
        assert done.exit_code == 0, done.stderr
    assert "cup holds: " in done.stdout


@pytest.mark.anyio
async def test_the_server_part_starts_a_contest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("contest", "new", "noughts-and-crosses", "-o", "cup.toml").exit_code == 0
    async with server(tmp_path) as house:
        house.desk.workers.start()
        monkeypatch.setenv("BOTDROME_OPERATOR_TOKEN", house.new_operator_token)
        for command in commands():
            if command[1] in ONLINE:
                done = await run_beside(*command, "--server", house.url)
                assert done.exit_code == 0, done.stderr
        assert house.contests.known("cup").entry.state != "open"
