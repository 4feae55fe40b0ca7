"""Matches that were written as pages, opened from disk in a real browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Browser, Page, expect

from botdrome.api.pages import WEB
from botdrome.catalogue import restored
from botdrome.cli.replay import film_page
from botdrome.match.film import film_lines, frames, header_of
from tests.browser.faults import serious_faults
from tests.cli.commands import run
from tests.golden.test_golden import NEWEST, file_of
from tests.patience import PATIENCE

EVIL = "</script><img src=x onerror=alert(1)>"


@contextmanager
def opened(chromium: Browser, file: Path) -> Iterator[Page]:
    """A page from disk.

    It fails the test where it asks for anything, complains, or opens a dialog.
    """
    complaints: list[str] = []
    with chromium.new_context(offline=True, viewport={"width": 1280, "height": 900}) as context:
        context.set_default_timeout(PATIENCE * 1000)
        page = context.new_page()
        page.on(
            "console",
            lambda message: complaints.append(message.text) if message.type == "error" else None,
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on(
            "request",
            lambda request: (
                complaints.append(request.url) if request.url != file.as_uri() else None
            ),
        )
        page.goto(file.as_uri())
        yield page
    assert complaints == []


@pytest.mark.parametrize("game", NEWEST)
def test_a_film_plays_from_disk(chromium: Browser, tmp_path: Path, game: str) -> None:
    file = tmp_path / "film.html"
    assert run("replay", str(file_of(game, 2)), "--html", str(file)).exit_code == 0
    assert file.stat().st_size < (900_000 if game == "battlecube" else 400_000)
    with opened(chromium, file) as page:
        steps = page.locator(".caption-step")
        expect(page.locator(".caption-words")).to_contain_text("The match ends")
        page.keyboard.press("Home")
        expect(steps).to_contain_text("0 /")
        page.keyboard.press("ArrowRight")
        expect(steps).to_contain_text("1 /")
        assert serious_faults(page) == []


def test_names_are_shown_as_text(chromium: Browser, tmp_path: Path) -> None:
    record, game = restored(file_of("gomoku", 2).read_bytes())
    record = msgspec.structs.replace(
        record, setup=msgspec.structs.replace(record.setup, names=(EVIL, "<b>bob</b>"))
    )
    header = header_of(record)
    file = tmp_path / "film.html"
    file.write_bytes(film_page(header, b"".join(film_lines(header, frames(record, game))), WEB))
    with opened(chromium, file) as page:
        expect(page.locator("h1")).to_contain_text(f"{EVIL} – <b>bob</b>")
        assert page.locator("img, b").count() == 0
