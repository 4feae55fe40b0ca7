"""The story of a match: its evaluation, why a bot lost, and how it might have gone on."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser import guests
from tests.browser.arena import BrowserArena
from tests.browser.faults import serious_faults
from tests.browser.test_every_page import check
from tests.browser.test_lists import play

GAME = "noughts-and-crosses"
STORY = "the story"


def played(arena: BrowserArena, contest: str) -> str:
    """Both always take the first free square, so that crosses win at step 7."""
    names = (f"ada of {contest}", f"bob of {contest}")
    tokens = {name: arena.register(GAME, name) for name in names}
    while True:
        play(arena, tokens, contest=contest)
        matches = arena.rest.get("/matches", params={"contest": contest}).json()["matches"]
        if [seat["cause"] for seat in matches[0]["seats"]] == ["complete", "complete"]:
            return str(matches[0]["id"])


@pytest.fixture(scope="session")
def match(arena: BrowserArena) -> str:
    return played(arena, STORY)


def evaluated(arena: BrowserArena, match: str) -> Any:
    return arena.rest.post(f"/matches/{match}/evaluation").json()["evaluation"]


def test_a_match_shows_its_turning_points(page: Page, arena: BrowserArena) -> None:
    """A match of its own, which nobody has evaluated yet."""
    match = played(arena, "a turning point")
    page.goto(f"/matches/{match}")
    page.get_by_role("button", name="Find the turning points").click()
    part = page.get_by_role("region", name="Evaluation")
    expect(part.get_by_role("img", name="Chance to win")).to_be_visible()
    expect(part).to_be_focused()
    first = evaluated(arena, match)["turns"][0]
    expect(part.get_by_role("listitem").first).to_contain_text(first["words"])
    part.get_by_role("link", name=f"After step {first['step']}").click()
    expect(page.locator(".caption-step")).to_have_text(f"{first['step']} / 7")
    expect(page).to_have_url(re.compile(rf"/matches/{match}\?step={first['step']}$"))
    check(page)
    page.reload()
    expect(part.get_by_role("heading", name="Turning points")).to_be_visible()


def test_why_opens_with_the_turning_points(page: Page, arena: BrowserArena, match: str) -> None:
    turns = evaluated(arena, match)["turns"]
    page.goto(f"/matches/{match}/why/{turns[-1]['player']}")
    expect(page.get_by_role("listitem").filter(has_text=turns[-1]["words"])).to_be_visible()
    expect(page.get_by_role("region", name="Messages")).to_be_visible()
    check(page)


def test_house_bots_play_on_from_a_step(page: Page, match: str) -> None:
    page.goto(f"/matches/{match}?step=2")
    page.get_by_role("link", name="Continue from here").click()
    expect(page.get_by_role("heading", name="Continue from step 2")).to_be_visible()
    check(page)
    page.get_by_role("link", name="Let house bots play on").click()
    expect(page.locator(".caption-step")).to_contain_text("2 / ")
    page.keyboard.press("End")
    expect(page.locator(".caption-words")).to_contain_text("The match ends")
    assert serious_faults(page) == []


def test_a_person_plays_on_from_a_step(page: Page, match: str) -> None:
    page.goto(f"/matches/{match}/continue?step=0")
    page.get_by_role("link", name="Play on as").first.click()
    expect(page.get_by_text("The position in words")).to_be_visible()
    happened = page.get_by_role("region", name="What happened").get_by_role("listitem")
    expect(happened).to_have_count(1)
    for row, count in ((1, 3), (3, 5)):
        page.get_by_role("gridcell", name=re.compile(rf"row {row}.*empty")).first.click()
        expect(happened).to_have_count(count)
    assert serious_faults(page) == []


def test_a_match_is_printed_without_its_controls(page: Page, match: str) -> None:
    page.goto(f"/matches/{match}")
    expect(page.get_by_role("toolbar", name="Playback")).to_be_visible()
    page.emulate_media(media="print")
    for part in (".top", ".controls", ".seek", ".events"):
        expect(page.locator(part)).to_be_hidden()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator(".result table")).to_be_visible()


def test_a_list_names_a_house_bot_that_won_as_its_seat(page: Page, arena: BrowserArena) -> None:
    guests.played(arena, "gomoku")
    page.goto("/matches?game=gomoku&winner=house:random")
    row = page.locator("tbody tr").first
    expect(row.locator(".winner")).to_have_text(re.compile(r"random\s+house"))
    expect(row.get_by_role("cell", name="random", exact=True)).to_be_visible()
