"""Pages of games, and pages that let people play or organise: they fit, and have no serious fault of
accessibility.
"""

import pytest
from playwright.sync_api import Browser, Page, expect

from botdrome.catalogue import CATALOGUE
from tests.browser.arena import BrowserArena
from tests.browser.looking import looking
from tests.browser.test_every_page import check
from tests.browser.test_organising import sign_in

PARTS = [
    "/clients", "/matches", "/contests", "/bans", "/battlecube", "/boats", "/nodes", "/audit", "",
]  # fmt: skip


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
    sign_in(page, "/organise")
    for part in PARTS:
        page.goto(f"/organise{part}")
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        check(page)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Operator's token")).to_be_visible()
