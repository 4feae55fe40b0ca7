"""For the tests in a browser: one server and one browser for all of them, a page for each."""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright
from tools import browser as browsers

from tests.browser.arena import BrowserArena, serving
from tests.patience import PATIENCE

FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
"""WebGL without a graphics card, and no sandbox, since the tests may run as root in a container."""
NEEDED = "NEED_BROWSER"
"""With this variable set, a missing browser is a failure."""

expect.set_options(timeout=PATIENCE * 1000)


@pytest.fixture(scope="session")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserArena]:
    with serving(tmp_path_factory.mktemp("arena")) as running:
        yield running


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    found = browsers.find()
    if found is None:
        assert not os.environ.get(NEEDED), browsers.NONE
        pytest.skip(browsers.NONE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS, timeout=PATIENCE * 1000)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser, arena: BrowserArena) -> Iterator[Page]:
    """A page on which every complaint of the browser (an exception, a script that is missing, a broken policy) fails the test."""
    with chromium.new_context(base_url=arena.url, viewport={"width": 1280, "height": 900}) as context:
        context.set_default_timeout(PATIENCE * 1000)
        context.set_default_navigation_timeout(PATIENCE * 1000)
        one = context.new_page()
        complaints: list[str] = []
        one.on("console", lambda message: _note(message, complaints))
        one.on("pageerror", lambda error: complaints.append(str(error)))
        yield one
        assert complaints == []


def _note(message: ConsoleMessage, complaints: list[str]) -> None:
    """That the server has no such page or match is no fault of the browser."""
    url = str(message.location.get("url"))
    if message.type == "error" and not ("Failed to load resource" in message.text and "/static/" not in url):
        complaints.append(f"{message.text} ({url})")
