"""Bots have a face: the list of bots, a bot's page, two bots compared, and what the user follows."""

import re
from collections.abc import Iterator
from time import monotonic, sleep
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.arena import BrowserArena
from tests.browser.test_every_page import check
from tests.browser.test_lists import play
from tests.patience import PATIENCE, PAUSE

GAME = "noughts-and-crosses"
ADA, BOB = "ada of the faces", "bob of the faces"
CUP = "cup of the faces"


@pytest.fixture(scope="module")
def bots(arena: BrowserArena) -> Iterator[None]:
    """Both take the first free square, and noughts send an illegal move first."""
    body = {"game": GAME, "name": ADA, "owner": "tests", "language": "Rust"}
    tokens = {ADA: arena.rest.post("/bots", json=body).json()["password"]}
    tokens[BOB] = arena.register(GAME, BOB)
    play(arena, tokens, contest=CUP)
    play(arena, tokens, contest=CUP)
    deadline = monotonic() + PATIENCE
    while arena.rest.get("/bots", params={"name": ADA}).json()["bots"][0]["protocol"] is None:
        assert monotonic() < deadline, "the protocol is stored a second after the login"
        sleep(PAUSE)
    yield


@pytest.mark.usefixtures("bots")
def test_the_list_of_bots_shows_what_is_known_and_is_sorted(page: Page) -> None:
    page.goto(f"/bots?game={GAME}&sort=-registered")  # other tests have registered bots, too
    row = page.get_by_role("row").filter(has_text=ADA)
    expect(row).to_contain_text("provisional")
    expect(row).to_contain_text(re.compile(r"\d–\d–\d"))
    expect(row).to_contain_text("Battlebot")
    expect(row).to_contain_text("Rust")
    expect(row.locator("time").first).to_be_visible()
    for column, direction in (("Language", "ascending"), ("Last seen", "descending")):
        head = page.get_by_role("columnheader", name=column)
        head.get_by_role("button").click()
        expect(head).to_have_attribute("aria-sort", direction)
        expect(page.get_by_role("group", name="Registered bots")).not_to_have_attribute(
            "aria-busy", "true"
        )
    page.goto(f"/bots?game={GAME}&sort=language")
    expect(page.locator("tbody tr").first).to_contain_text("Rust")
    check(page)


@pytest.mark.usefixtures("bots")
def test_a_bot_tells_its_openings_and_results(page: Page) -> None:
    page.goto(f"/bots/{quote(ADA)}")
    openings = page.get_by_role("region", name="Openings")
    expect(openings.get_by_role("listitem").first).to_contain_text("corner")
    expect(page.get_by_text("written in Rust")).to_be_visible()
    results = page.get_by_role("region", name="Results by opponent")
    expect(results.get_by_role("row").filter(has_text=BOB)).to_be_visible()
    check(page)
    openings.get_by_role("link", name="the last one").first.click()
    expect(page.get_by_role("slider", name="Position in the match")).to_be_visible()


@pytest.mark.usefixtures("bots")
def test_two_bots_are_compared(page: Page) -> None:
    page.goto(f"/bots/{quote(ADA)}")
    page.get_by_label("Compare with").fill(BOB)
    page.get_by_role("button", name="Compare").click()
    expect(
        page.get_by_text(re.compile(rf"{ADA} has won \d, drawn \d and lost \d of 2"))
    ).to_be_visible()
    facts = page.get_by_role("table", name="The two bots")
    expect(facts.get_by_role("row").filter(has_text="Language")).to_contain_text("Rust")
    expect(page.get_by_role("region", name="Matches").get_by_role("row")).to_have_count(3)
    check(page)
    page.goto("/compare?bot=nobody&bot=none")
    expect(page.get_by_role("alert")).to_contain_text("there is no bot")


@pytest.mark.usefixtures("bots")
def test_bots_and_contests_are_followed_in_this_browser(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("heading", name="You follow")).to_have_count(0)
    page.goto(f"/bots/{quote(ADA)}")
    page.get_by_role("button", name="Follow").click()
    expect(page.get_by_role("button", name="Following")).to_have_attribute("aria-pressed", "true")
    page.goto(f"/contests/{GAME}/{quote(CUP)}")
    page.get_by_role("button", name="Follow").click()
    page.goto("/")
    part = page.get_by_role("region", name="You follow")
    expect(part.get_by_role("listitem").filter(has_text=ADA).first).to_contain_text("lost")
    expect(part.get_by_role("listitem").filter(has_text=CUP).first).to_contain_text("first:")
    expect(
        part.get_by_role("list", name="Their last matches").get_by_role("listitem")
    ).to_have_count(2)
    check(page)
    for _ in range(2):
        part.get_by_role("button", name="Following").first.click()
    expect(part).to_have_count(0)
