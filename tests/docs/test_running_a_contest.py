"""The commands of the page on contests, as an organiser types them."""

from pathlib import Path

import pytest

from tests.cli.commands import run
from tests.docs.pages import blocks


def test_the_offline_part_leads_from_a_document_to_a_verified_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = [line.split() for block in blocks("running-a-contest.md") for line in block.splitlines()]
    commands = [line[1:] for line in words if line[:2] == ["botdrome", "contest"] and "--key" not in line]
    assert [command[1] for command in commands] == ["new", "check", "run", "show", "export", "verify"]
    for command in commands:
        done = run(*command)
        assert done.exit_code == 0, done.stderr
    assert "cup holds: " in done.stdout
