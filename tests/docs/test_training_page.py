"""The learner of the page about training plays itself, and then joins a server."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import run_beside
from tests.docs.pages import blocks
from tests.server.clients import server

pytestmark = pytest.mark.anyio
PAGE = "training.md"


async def test_a_policy_that_played_itself_joins_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (example,) = [code for code in blocks(PAGE, "python") if "PolicyPool" in code]
    names: dict[str, Any] = {}
    exec(compile(example, PAGE, "exec"), names)
    assert len(names["pool"]) == 8
    (command,) = [code for code in blocks(PAGE) if code.startswith("botdrome join")]
    async with server(tmp_path) as house:
        result = await run_beside(*shlex.split(command)[1:], "--server", house.url)
    assert result.exit_code == 0, result.output
    *matches, summary = result.stdout.splitlines()
    assert len(matches) == 3 and re.fullmatch(r"\S*champion\S*: 3 matches, .*", summary), (
        result.output
    )
    assert "failed" not in result.output
