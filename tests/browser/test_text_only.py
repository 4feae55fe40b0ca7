"""Every page shows clients' input as text: names of bots, owners, contests and guests, and
messages.
"""

import json
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.arena import BrowserArena
from tests.browser.guests import played, seated
from tests.browser.test_organising import sign_in

BAD = "<img src=y onerror=alert(2)>"
"""Not the name of a bot of other tests."""
GUEST = f"guest {BAD}"
OWNER = f"owner {BAD}"
BOT = f"bot {BAD}"


@pytest.fixture(scope="session")
def match(arena: BrowserArena) -> str:
    """A match of a guest with such a name."""
    answer = arena.rest.post("/bots", json={"game": "gomoku", "name": BOT, "owner": OWNER})
    assert answer.status_code == 201, answer.text
    return played(arena, "gomoku", GUEST)


def see_text(page: Page, words: str) -> None:
    """The browser would say so if a picture could not be loaded, and a dialog would
    fail the test.
    """
    expect(page.get_by_text(words).first).to_be_visible()
    assert page.locator("img").count() == 0


def test_a_guest_is_shown_as_text(page: Page, match: str) -> None:
    for path in ("/matches/{}", "/embed/{}", "/matches/{}/why/0", "/matches", "/"):
        page.goto(path.format(match))
        see_text(page, GUEST)


def test_a_live_guest_is_shown_as_text(page: Page, arena: BrowserArena) -> None:
    with seated(arena, "gomoku", GUEST) as guest:
        for path in ("/", f"/tv?scene=live/{guest.match}", f"/matches/{guest.match}"):
            page.goto(path)
            see_text(page, GUEST)
        for path in ("/organise/clients", "/organise/matches"):
            page.context.clear_cookies()
            sign_in(page, path)
            see_text(page, GUEST)
        guest.resign()


@pytest.mark.usefixtures("match")
def test_a_bot_and_its_owner_are_shown_as_text(page: Page) -> None:
    for path in (f"/bots/{quote(BOT, safe='')}", f"/search?q={quote(BOT)}", "/bots"):
        page.goto(path)
        see_text(page, BOT)


def test_an_address_is_shown_as_text(page: Page) -> None:
    for path in (
        f"/{quote(BAD)}",
        f"/matches/{quote(BAD)}",
        f"/games/{quote(BAD)}",
        f"/bots/{quote(BAD)}",
        f"/contests/gomoku/{quote(BAD)}",
    ):
        page.goto(path)
        expect(page.get_by_role("alert")).to_be_visible()
        assert page.locator("img").count() == 0


def test_a_banned_name_and_its_reason_are_shown_as_text(page: Page) -> None:
    sign_in(page, "/organise/bans")
    form = page.get_by_role("form", name="Ban a name or an address")
    form.get_by_role("textbox", name="Name").fill(f"banned {BAD}")
    form.get_by_role("textbox", name="Reason").fill(f"reason {BAD}")
    form.get_by_role("button", name="Ban").click()
    table = page.get_by_role("table")
    expect(table).to_contain_text(f"banned {BAD}")
    expect(table).to_contain_text(f"reason {BAD}")
    assert page.locator("img").count() == 0
    page.get_by_role("button", name=f"Lift the ban of banned {BAD}").click()
    page.get_by_role("link", name="Audit log").click()
    see_text(page, f"banned {BAD}")


def test_an_opponent_who_is_awaited_is_shown_as_text(page: Page) -> None:
    page.goto(f"/play/gomoku?opponent={quote(BAD)}&options={quote(json.dumps({'size': 9}))}")
    see_text(page, BAD)
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.get_by_text("No bot is registered under the name")).to_contain_text(BAD)
    assert page.locator("img").count() == 0
