"""The example of the page on courses, as a teacher and a participant type it."""

import json
import shlex
from pathlib import Path

import pytest

from tests.cli.commands import run_beside
from tests.cli.test_join import started
from tests.docs.pages import blocks
from tests.patience import until
from tests.server.clients import server
from tests.server.operator.clients import TOKEN

pytestmark = pytest.mark.anyio

PAGE = "running-a-course.md"
CODE = "7KQ2-M0XT-94RD"


def commands() -> list[list[str]]:
    lines = [line for block in blocks(PAGE) for line in block.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("botdrome ")]


async def test_the_example_leads_from_a_class_to_a_contest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("BOTDROME_OPERATOR_TOKEN", TOKEN)
    Path("final.toml").write_text(blocks(PAGE, "toml")[0])
    async with server(tmp_path, operator_token=TOKEN) as house:
        house.desk.workers.start()
        monkeypatch.setenv("BOTDROME_SERVER", house.url)
        code, waiting = "", None
        for words in commands():
            if "--contest" in words:
                waiting = await started(*words)
                await until(lambda: house.contests.known("final").number_of("ada-1") is not None)
            elif words[0] != "serve":
                done = await run_beside(*[code if word == CODE else word for word in words])
                assert done.exit_code == 0, (words, done.stderr)
            if words[:2] == ["class", "create"]:
                code = done.stdout.partition("join code: ")[2][: len(CODE)]
        assert waiting is not None
        output, problems = await waiting.communicate()
        assert waiting.returncode == 0, problems
        shown = json.loads((await run_beside("class", "show", "Robots 2026", "--json")).stdout)
        assert [(one["name"], one["bots"]) for one in shown["participants"]] == [("Ada", ["ada-1"])]
        assert len(shown["results"]) > 2 and b"house:random" in output
        assert {player["participant"] for player in shown["results"][0]["players"]} == {"Ada", None}
