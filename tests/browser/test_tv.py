"""TV: a board that fills the height, scenes that are loaded before they are shown, and letters for
ten metres.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.arena import BrowserArena
from tests.browser.faults import serious_faults
from tests.browser.guests import seated
from tests.browser.held import GAME, title_of
from tests.browser.looking import looking
from tests.browser.test_wall import leaderboard

HALL = (1920, 1080)
SMALLEST = 30
"""Pixels of a letter that is read from ten metres."""
SIZES_OF_TEXT = """() => [...document.querySelectorAll('.tv-scene *, .ticker *')]
  .filter((one) => !one.closest('svg, .hidden, .tv-board') && one.checkVisibility() && [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
  .map((one) => [parseFloat(getComputedStyle(one).fontSize), one.textContent])"""
OUTSIDE = """() => [...document.querySelectorAll('.tv-scene *')]
  .filter((one) => one.getBoundingClientRect().bottom > document.querySelector('.tv-bottom').getBoundingClientRect().top + 1 || one.getBoundingClientRect().right > innerWidth + 1)
  .filter((one) => !one.closest('.hidden')).map((one) => one.className || one.tagName)"""


@pytest.fixture
def screen(chromium: Browser, held: BrowserArena) -> Iterator[Page]:
    """A screen in a hall, with contests."""
    with looking(chromium, held, *HALL) as one:
        yield one


def check(page: Page) -> None:
    """It fits the screen, can be read from afar and has no serious fault."""
    assert [found for found in page.evaluate(SIZES_OF_TEXT) if found[0] < SMALLEST] == []
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate("document.documentElement.scrollHeight") <= HALL[1]
    assert serious_faults(page) == []


@pytest.mark.parametrize(
    ("scene", "words"),
    [
        (f"contest/{GAME}/knockout", "Champion"),
        (f"contest/{GAME}/swiss", "W–D–L"),
        ("groups/groups", "Group 2"),
        ("bracket/knockout", "Quarter-finals"),
        ("bracket/double-elimination", "Grand final"),
        ("bracket/groups", "Semi-finals"),
    ],
)
def test_contests_can_be_read_from_afar(screen: Page, scene: str, words: str) -> None:
    screen.goto(f"/tv?scene={scene}")
    expect(screen.get_by_role("heading", level=1)).to_contain_text(title_of(scene.split("/")[-1]))
    expect(screen.locator(".tv-scene").get_by_text(words).first).to_be_visible()
    check(screen)


def test_a_board_fills_the_height(chromium: Browser, arena: BrowserArena) -> None:
    with (
        looking(chromium, arena, *HALL) as page,
        seated(arena, "gomoku", "Tia of the hall") as guest,
    ):
        page.goto(f"/tv?scene=live/{guest.match}")
        box = page.locator(".tv-board svg").first.bounding_box()
        assert box is not None
        assert box["height"] > 0.8 * HALL[1]
        player = page.get_by_role("list", name="Players").get_by_role("listitem")
        expect(player.filter(has_text="Tia of the hall").locator(".clock.runs")).to_contain_text(
            " left"
        )
        check(page)
        guest.resign()
        expect(page.locator(".headline")).to_contain_text("Tia of the hall")


def test_nothing_covers_the_line_of_results(chromium: Browser, arena: BrowserArena) -> None:
    bot = "Lia " + "of the longest names " * 3
    pairs = [
        {"game": "gomoku", "contest": None, "players": [bot, bot], "left": 9} for _ in range(20)
    ]
    waiting = [{"name": bot, "game": "gomoku", "contest": None} for _ in range(20)]
    with (
        looking(chromium, arena, *HALL) as page,
        seated(arena, "battlecube", "Tim of the hall") as guest,
    ):
        page.goto(f"/tv?scene=live/{guest.match}")
        expect(page.locator(".cube-space, .cube-flat").first).to_be_visible()
        check(page)
        guest.resign()
        expect(page.locator(".headline")).to_contain_text("Tim of the hall")
        check(page)
        answer = {"waiting": waiting, "unplayed": pairs}
        page.route("**/api/v1/next", lambda route: route.fulfill(json=answer))
        page.goto("/tv?scene=next")
        title(page, "Next matches")
        scene = page.locator(".tv-next").bounding_box()
        bottom = page.locator(".tv-bottom").bounding_box()
        assert scene is not None
        assert bottom is not None
        assert scene["y"] + scene["height"] <= bottom["y"]


def boards(page: Page, *games: str) -> None:
    """Only these games have rated bots."""

    def answer(route: Route) -> None:
        game = route.request.url.split("/games/")[1].split("/")[0]
        route.fulfill(json=leaderboard(game) if game in games else leaderboard(game) | {"bots": []})

    page.route("**/api/v1/games/*/leaderboard*", answer)


def title(page: Page, words: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(words)


def test_scenes_follow_each_other_without_the_empty_ones(page: Page) -> None:
    page.clock.install()
    boards(page, "gomoku", "bomberman")
    page.goto("/tv?scene=leaderboard&seconds=3600")
    title(page, "Leaderboard · Gomoku")
    page.clock.fast_forward("59:57")  # the next one is loaded
    page.clock.fast_forward("00:03")
    title(page, "Leaderboard · Bomberman")
    page.keyboard.press("ArrowLeft")
    title(page, "Leaderboard · Gomoku")
    page.get_by_role("button", name="Hold").click()
    page.clock.fast_forward("02:00:00")
    title(page, "Leaderboard · Gomoku")
    page.get_by_role("button", name="The next scene").click()
    title(page, "Leaderboard · Bomberman")


def test_a_scene_is_loaded_before_it_is_shown(page: Page) -> None:
    waiting: list[Route] = []

    def keep(route: Route) -> None:
        waiting.append(route)

    boards(page, "bumblebots")
    page.route("**/api/v1/games/gomoku/leaderboard*", keep)
    page.goto("/tv?scene=leaderboard/bumblebots&scene=leaderboard/gomoku&seconds=3600")
    title(page, "Leaderboard · Bumblebots")
    with page.expect_request("**/games/gomoku/leaderboard*"):
        page.keyboard.press("ArrowRight")
    title(page, "Leaderboard · Bumblebots")
    waiting[0].fulfill(json=leaderboard("gomoku"))
    title(page, "Leaderboard · Gomoku")


def test_without_a_scene_it_says_how_to_join(page: Page) -> None:
    address: dict[str, Any] = {
        "version": "1", "url": None, "tls": False, "ports": {}, "house": True,
        "networkUrl": "http://192.0.2.7:3000",
    }  # fmt: skip
    page.route("**/api/v1/server", lambda route: route.fulfill(json=address))
    boards(page)
    page.goto("/tv?scene=leaderboard")
    title(page, "Join")
    expect(page.get_by_text("192.0.2.7:3000")).to_be_visible()
    expect(page.get_by_role("img", name="A QR code of http://192.0.2.7:3000/play")).to_be_visible()
    expect(
        page.get_by_role("img", name="A QR code of http://192.0.2.7:3000/", exact=True)
    ).to_be_visible()


def test_a_line_has_the_latest_results(screen: Page, held: BrowserArena) -> None:
    last = held.rest.get("/matches", params={"status": "ended", "limit": 1}).json()["matches"][0]
    screen.goto("/tv")
    first = screen.get_by_role("region", name="Latest results").get_by_role("listitem").first
    expect(first).to_contain_text(last["result"]["victor"] or "draw")
    expect(first).to_contain_text(title_of(last["contest"]))
