"""Every page, on a desk and on a phone: it is there, fits, and has no serious fault of
accessibility.
"""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.faults import serious_faults

PATHS = [
    "/", "/games", "/games/chess", "/bots", "/bots/nobody", "/matches", "/matches/none/why/0",
    "/contests", "/contests/gomoku/none", "/compare", "/search", "/search?q=a", "/tv", "/duel",
    "/profile/nobody", "/history", "/board/1", "/nothing", "/join-class", "/class", "/upload",
]  # fmt: skip
SIZES = {"desk": (1280, 900), "phone": (390, 844)}


def check(page: Page) -> None:
    """On a phone, then on a desk."""
    for width, height in reversed(SIZES.values()):
        page.set_viewport_size({"width": width, "height": height})
        expect(
            page.locator(
                "main h1, main [role=alert], main [role=slider], main input[type=range]"
            ).first
        ).to_be_visible()
        expect(page.get_by_role("status").filter(has_text="Loading")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert serious_faults(page) == []


@pytest.mark.parametrize("path", PATHS)
def test_a_page_fits_and_has_no_serious_fault(page: Page, path: str) -> None:
    page.goto(path)
    check(page)
