"""The example of the page on courses, as a teacher and two participants type it: with the real
sandbox, and a clock that the test holds.
"""

import csv
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import time
from zipfile import ZipFile

import pytest

from tests.cli.commands import run_beside
from tests.docs.pages import blocks
from tests.kit.hosted import running
from tests.offline.test_sandbox import bwrap  # noqa: F401
from tests.patience import until
from tests.server.clients import server
from tests.server.operator.clients import TOKEN

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bwrap")]

PAGE = "running-a-course.md"
CODE, URL = "7KQ2-M0XT-94RD", "http://127.0.0.1:3000"
DEADLINE = "2026-11-20T18:00:00Z"
DAY = timedelta(days=1)


def commands(block: int) -> list[list[str]]:
    """The commands of a block of the page."""
    lines = [line.partition("#")[0] for line in blocks(PAGE)[block].splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("botdrome ")]


async def done(words: list[str], **replaced: str) -> str:
    for old, new in replaced.items():
        words = [word.replace(old, new) for word in words]
    result = await run_beside(*words)
    assert result.exit_code == 0, (words, result.stderr)
    return result.stdout


def members(file: str) -> bytes:
    """All that is in an archive."""
    with ZipFile(file) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


async def test_the_example_leads_from_a_class_to_grades(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BOTDROME_OPERATOR_TOKEN", TOKEN)
    deadline = (datetime.now(UTC) + DAY).strftime("%Y-%m-%dT%H:%M:%SZ")
    document = blocks(PAGE, "toml")[0].replace(DEADLINE, deadline)
    Path("homework-1.toml").write_text(document.replace("games = 200", "games = 8"))
    shown: list[list[list[str]]] = [commands(block) for block in range(len(blocks(PAGE)))]
    (serve, create), (assign,), (join, new, push), (show,), final = [one for one in shown if one]
    async with (
        server(tmp_path, operator_token=TOKEN, hosting_uploads=serve[-1]) as house,
        running(house, tmp_path),
    ):
        house.desk.workers.start()
        monkeypatch.setenv("BOTDROME_SERVER", house.url)
        code = (await done(create)).partition("join code: ")[2][: len(CODE)]
        await done(assign)
        for name in ("Ada", "Bob"):
            monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / name))
            for words in (join, new, push):
                await done(words, **{CODE: code, "Ada": name, "ada": name.lower()})
        assert "  Bob: bob-1 (uploaded)" in await done(show)
        contests = house.contests
        contests.clock = lambda: time() + DAY.total_seconds()
        contests.moments.watch(contests.known("homework-1").entry)  # its timer rings now
        await until(lambda: contests.known("homework-1").entry.state == "over")
        for words in final:
            said = await done(words, **{URL: house.url, "botdrome.db": "test.db"})
        whole = members("homework-1.zip")
        await done(["class", "remove", "Robots 2026", "Bob"])
        again = [await done(words, **{"botdrome.db": "test.db"}) for words in final[-2:]]
    assert said == "homework-1.zip: homework-1 holds: 16 matches, 3 entrants\n" == again[-1]
    assert b"bob-1" in whole and b"Bob" in whole
    without = members("homework-1.zip")
    assert b"bob-1" not in without and b"Bob" not in without and b"deleted-3" in without
    with Path("grades.csv").open() as table:
        lines = list(csv.DictReader(table))
    assert {line["participant"] for line in lines} == {"Ada", "Bob"}
    assert {line["house:random: matches"] for line in lines} == {"8"}
    assert "participant,bot," in blocks(PAGE)[-1]
    with ZipFile("uploads.zip") as archive:
        assert "Ada/ada-1/bot.toml" in archive.namelist()
