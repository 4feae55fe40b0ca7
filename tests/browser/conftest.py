"""For the tests in a browser: one server and one browser for all of them, a page for each."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from tools import browser as browsers

from botdrome.catalogue import CATALOGUE
from tests.browser.arena import BrowserArena, serving
from tests.browser.guests import played
from tests.browser.held import hold_contests
from tests.browser.looking import looking
from tests.patience import PATIENCE

FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--enable-unsafe-swiftshader"]
"""No sandbox, since the tests may run as root in a container; WebGL is rendered in software."""
NEEDED = "NEED_BROWSER"
"""With this variable set, a missing browser is a failure."""

expect.set_options(timeout=PATIENCE * 1000)


@pytest.fixture(scope="session")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserArena]:
    with serving(tmp_path_factory.mktemp("arena")) as running:
        yield running


@pytest.fixture(scope="session")
def stored(arena: BrowserArena) -> dict[str, str]:
    """A match of each game that is over."""
    return {game: played(arena, game) for game in CATALOGUE}


@pytest.fixture(scope="session")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserArena]:
    """A server with contests that are over."""
    folder = tmp_path_factory.mktemp("held")
    with ThreadPoolExecutor() as threads:  # the browser has the event loop of this one
        threads.submit(hold_contests, folder).result()
    with serving(folder) as running:
        yield running


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    found = browsers.find()
    if found is None:
        assert not os.environ.get(NEEDED), browsers.NONE
        pytest.skip(browsers.NONE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=FLAGS, timeout=PATIENCE * 1000
        )
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser, arena: BrowserArena) -> Iterator[Page]:
    """A page on a desk, on which every complaint of the browser fails the test."""
    with looking(chromium, arena) as one:
        yield one


@pytest.fixture
def phone(chromium: Browser, arena: BrowserArena) -> Iterator[Page]:
    with looking(chromium, arena, 390, 844, has_touch=True, is_mobile=True) as one:
        yield one
