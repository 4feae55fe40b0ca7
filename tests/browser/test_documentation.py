"""The documentation that a server has at /docs."""

import os
import re

import pytest
from playwright.sync_api import Page, expect

from botdrome.api.pages import SITE
from tests.browser.conftest import NEEDED

pytestmark = pytest.mark.skipif(
    not (SITE / "policy.txt").exists() and not os.environ.get(NEEDED),
    reason="the documentation is not built: run `make docs`",
)


def test_pages_lead_to_the_documentation(page: Page) -> None:
    page.goto("/games/noughts-and-crosses")
    page.get_by_role("link", name="All rules").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Noughts and crosses")
    page.go_back()
    page.get_by_role("contentinfo").get_by_role("link", name="Documentation").click()
    expect(page).to_have_title(re.compile("Botdrome"))
    expect(page.get_by_role("link", name="Your first bot").first).to_be_attached()


def test_the_documentation_is_searched(page: Page) -> None:
    page.goto("/docs/pages.html")
    expect(page.get_by_role("heading", level=1)).to_contain_text("The pages of a server")
    page.keyboard.press("/")
    page.get_by_placeholder("Search").last.fill("turning points")
    expect(page.get_by_text(re.compile(r"^\d+ results?$"))).to_be_visible()
