"""Every page, on a desk and on a phone: it is there, fits, and has no serious fault of accessibility."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.faults import serious_faults

PATHS = [
    "/", "/games", "/games/gomoku", "/games/chess", "/bots", "/bots/nobody", "/matches", "/matches/none/why/0", "/contests",
    "/contests/gomoku/none", "/search", "/search?q=a", "/tv", "/duel", "/profile/nobody", "/history", "/board/1", "/nothing",
]  # fmt: skip
SIZES = {"desk": (1280, 900), "phone": (390, 844)}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("path", PATHS)
def test_a_page_fits_and_has_no_serious_fault(page: Page, path: str, size: str) -> None:
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
    page.goto(path)
    expect(page.locator("main h1, main [role=alert]").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert serious_faults(page) == []
