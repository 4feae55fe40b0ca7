"""Pages that show matches, let people play or organise: they fit, and have no serious fault of
accessibility.
"""

import pytest
from playwright.sync_api import Browser, Page, expect

from botdrome.catalogue import CATALOGUE
from tests.browser.arena import OPERATOR, BrowserArena
from tests.browser.looking import looking
from tests.browser.test_every_page import check

PARTS = ["", "/clients", "/matches", "/bans", "/battlecube", "/boats", "/nodes", "/audit"]


@pytest.mark.parametrize("game", CATALOGUE)
def test_a_match_of_each_game(page: Page, stored: dict[str, str], game: str) -> None:
    page.goto(f"/matches/{stored[game]}?step=2")
    expect(page.get_by_role("slider", name="Position in the match")).to_be_visible()
    check(page)


@pytest.mark.parametrize("game", CATALOGUE)
def test_the_page_of_each_game(page: Page, game: str) -> None:
    page.goto(f"/games/{game}")
    check(page)


@pytest.mark.parametrize("path", ["/play", "/play/gomoku", "/open", "/organise"])
def test_pages_that_ask_for_something(page: Page, path: str) -> None:
    page.goto(path)
    check(page)


def test_a_match_in_a_frame(page: Page, stored: dict[str, str]) -> None:
    page.goto(f"/embed/{stored['bomberman']}")
    check(page)


def test_pages_in_the_dark(chromium: Browser, arena: BrowserArena, stored: dict[str, str]) -> None:
    with looking(chromium, arena, color_scheme="dark") as page:
        for path in ("/", "/play", f"/matches/{stored['battleship']}"):
            page.goto(path)
            check(page)


def test_the_organiser_pages(page: Page) -> None:
    page.goto("/organise")
    page.get_by_label("Operator's token").fill(OPERATOR)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    for part in PARTS:
        page.goto(f"/organise{part}")
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        check(page)
