"""`botdrome fork --browser`: a person continues a recorded match on the page on which
people play.
"""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from botdrome.catalogue import restored
from botdrome.match.record import verify
from tests.browser.arena import BrowserArena
from tests.browser.looking import looking
from tests.browser.test_playing import OPEN_SQUARE, play_on, result
from tests.cli.analysis.files import saved
from tests.patience import PATIENCE

COMMAND = [
    sys.executable,
    "-m",
    "botdrome",
    "fork",
    "lost.jsonl",
    "--step",
    "3",
    "recorded",
    "human",
    "--browser",
]


@contextmanager
def forking(folder: Path) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """The address of the page, and the process of the command."""
    with subprocess.Popen(
        COMMAND, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        try:
            found = re.search(r"http://\S+", line := process.stderr.readline())
            assert found, line + process.stderr.read()
            yield found[0], process
        finally:
            process.kill()


def play_to_the_end(page: Page) -> None:
    squares = page.locator(OPEN_SQUARE)
    while play_on(page, squares, lambda _: squares.first.click()):
        pass


def test_a_person_continues_a_match_and_plays_a_rematch(chromium: Browser, tmp_path: Path) -> None:
    saved(tmp_path)
    with forking(tmp_path) as (url, process), looking(chromium, BrowserArena(url)) as page:
        page.goto(url)
        expect(page.locator(".play-status")).to_have_text("Your turn")
        expect(page.locator(OPEN_SQUARE)).to_have_count(6)
        page.reload()
        expect(page.locator(OPEN_SQUARE)).to_have_count(6)
        play_to_the_end(page)
        expect(result(page).get_by_role("heading")).to_be_visible()
        result(page).get_by_role("button", name="Rematch").click()
        expect(page.locator(OPEN_SQUARE)).to_have_count(6)
        page.get_by_role("button", name="Resign").click()
        page.get_by_role("button", name="Yes, resign").click()
        expect(result(page)).to_contain_text("You lose.")
        result(page).get_by_role("link", name="Watch the replay").click()
        expect(page.locator("h1")).to_contain_text("human")
        expect(page.get_by_role("slider", name="Position in the match")).to_be_visible()
        process.send_signal(signal.SIGINT)
        told, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "forks/lost-step-3-fork-1.jsonl" in told
    assert "forks/lost-step-3-fork-2.jsonl\n  human: resigned\n" in told
    for number in (1, 2):
        record, game = restored((tmp_path / f"forks/lost-step-3-fork-{number}.jsonl").read_bytes())
        verify(record, game)
