"""Hosted bots from a class to its grades, in the browser and with the real sandbox: uploads by page
and by command, a rejection, the ladder, the deadline and the final.
"""

import csv
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.arena import OPERATOR, BrowserArena, serving
from tests.browser.faults import serious_faults
from tests.browser.looking import looking
from tests.browser.test_classes import create, join
from tests.kit.hosted import FIRST_FREE
from tests.offline.test_sandbox import bwrap  # noqa: F401
from tests.patience import PATIENCE

pytestmark = pytest.mark.usefixtures("bwrap")
HOSTING = {"hosting_uploads": "invited", "ladder_wait": "0.1", "ladder_per_hour": "3600"}
WRONG = "def bot(view):\n    return 7\n"
ASSIGNMENT = """
name = "homework"
game = "noughts-and-crosses"
format = "gauntlet"
games = 4
penalties = { no_show = "wait" }
entry = { kind = "class", class = "Robots" }
entrants = [{ bot = "house:random" }]
grades = [{ name = "A", against = "house:random", score = 0.01 }]
"""
DROP = """(zone, code) => {
    const dropped = new DataTransfer();
    dropped.items.add(new File([code], 'my_bot.py'));
    zone.dispatchEvent(new DragEvent('drop', {dataTransfer: dropped, bubbles: true}));
}"""


class Course:
    """A server that hosts bots, a runner beside it, and the commands of its teacher and of Bob."""

    def __init__(self, arena: BrowserArena, folder: Path) -> None:
        self.arena, self._folder = arena, folder
        self._where = {
            "BOTDROME_SERVER": arena.url, "BOTDROME_OPERATOR_TOKEN": OPERATOR,
            "XDG_CONFIG_HOME": str(folder), "XDG_CACHE_HOME": str(folder),
        }  # fmt: skip

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "botdrome", *words], cwd=self._folder,
            env=os.environ | self._where, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, *words: str) -> str:
        with self.start(*words) as process:
            said, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, said
        return said


@contextmanager
def course(folder: Path) -> Iterator[Course]:
    with serving(folder, **HOSTING) as arena:
        one = Course(arena, folder)
        (folder / "runner.token").write_text(one.run("admin", "add-runner", "one"))
        with one.start("runner", "--server", arena.url, "--token", "runner.token") as runner:
            try:
                yield one
            finally:
                runner.terminate()


def upload(page: Page, said: str) -> None:
    page.get_by_role("button", name="Upload and check").click()
    expect(page.get_by_role("region", name="Check").get_by_role("status")).to_contain_text(said)


def bring_a_bot(page: Page) -> None:
    """Ada writes a bot that is rejected, and then drops one that is accepted."""
    page.get_by_role("link", name="Upload a bot").click()
    page.get_by_label("Name").fill("ada-1")
    page.get_by_role("button", name="Upload and check").click()
    expect(page.get_by_role("alert")).to_contain_text("Choose a file first")
    page.get_by_role("tab", name="Write Python").click()
    editor = page.get_by_label("Your bot in Python")
    editor.fill("")
    page.get_by_role("button", name="Upload and check").click()
    expect(page.get_by_role("alert")).to_contain_text("the editor is empty")
    editor.press_sequentially("def bot(view):\nreturn 7\n")
    assert editor.input_value() == "def bot(view):\n    return 7\n    "
    editor.press("Escape")
    editor.press("Tab")
    expect(editor).not_to_be_focused()
    upload(page, "Rejected")
    expect(page.locator(".report")).to_contain_text("illegal move: ")
    assert serious_faults(page) == []
    page.get_by_role("tab", name="A file").click()
    page.locator(".upload-file").evaluate(DROP, FIRST_FREE)
    expect(page.get_by_text("To be sent: my_bot.py")).to_be_visible()
    upload(page, "Accepted")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def rule_versions(page: Page) -> None:
    """Ada pauses and resumes its bot, and deletes the rejected version."""
    page.get_by_role("button", name="Pause version 2").click()
    page.get_by_role("button", name="Resume version 2").click()
    expect(page.get_by_role("button", name="Pause version 2")).to_be_visible()
    page.get_by_role("button", name="Delete version 1").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("button", name="Delete version 1")).to_have_count(0)


def read_log(page: Page) -> None:
    """Ada reads the log of its bot, without its password."""
    page.goto("/bots/ada-1")
    logs = page.get_by_role("region", name="For its author").get_by_text("Log", exact=True)
    logs.first.click()
    expect(page.get_by_text("I look at").first).to_be_visible()
    assert serious_faults(page) == []


def test_a_course_of_hosted_bots_from_the_code_to_the_grades(
    chromium: Browser, tmp_path: Path
) -> None:
    with (
        course(tmp_path) as one,
        looking(chromium, one.arena) as page,
        looking(chromium, one.arena, 390, 844, has_touch=True, is_mobile=True) as phone,
    ):
        code = create(page, "Robots")
        join(phone, code, "Ada")
        bring_a_bot(phone)
        rule_versions(phone)
        one.run("class", "join", code, "--name", "Bob")
        (tmp_path / "bob_1.py").write_text(FIRST_FREE)
        one.run("bots", "register", "noughts-and-crosses", "bob-1")
        assert "accepted" in one.run("push", "bob_1.py", "--name", "bob-1")
        page.get_by_role("link", name="Show on a projector").click()
        page.reload()  # it looks every 15 s
        projector = page.get_by_role("dialog", name="The class Robots")
        expect(projector.get_by_role("heading", name="2 in the class, 2 uploaded")).to_be_visible()
        expect(projector.get_by_role("listitem").filter(has_text="ada-1").first).to_be_visible()
        read_log(phone)
        (tmp_path / "homework.toml").write_text(ASSIGNMENT)
        one.run("contest", "create", "homework.toml", "--open")
        one.run("contest", "start", "homework")
        page.goto("/contests/noughts-and-crosses/homework")
        expect(page.get_by_text("over", exact=True).first).to_be_visible()
        one.run("class", "grades", "homework", "-o", "grades.csv")
    lines = list(csv.DictReader((tmp_path / "grades.csv").read_text().splitlines()))
    bots = {line["participant"]: line["bot"] for line in lines}
    assert bots == {"Ada": "ada-1", "Bob": "bob-1"}
    assert {line["house:random: matches"] for line in lines} == {"4"}
