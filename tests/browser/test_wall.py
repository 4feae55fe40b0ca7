"""The front page: a featured match, boards of all games that are live, and ranks that are earned."""

from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.arena import BrowserArena
from tests.browser.guests import played, seated
from tests.browser.test_every_page import check

BOTS = {"gomoku": "Gus of gomoku", "noughts-and-crosses": "Nan of noughts"}


def links_to(page: Page, match: str, within: str) -> Locator:
    return page.locator(f"{within} a.cover[href='/matches/{match}']")


def show_live(page: Page, arena: BrowserArena, *matches: str) -> None:
    """The page is told that these matches are running."""
    tables = [
        arena.rest.get(f"/matches/{match}").json() | {"steps": 1, "spectators": 0}
        for match in matches
    ]
    answer = {"tables": tables, "total": len(tables)}
    page.route("**/api/v1/live*", lambda route: route.fulfill(json=answer))


def test_every_game_that_is_live_has_a_board(page: Page, arena: BrowserArena) -> None:
    with ExitStack() as stack:
        guests = {
            game: stack.enter_context(seated(arena, game, name)) for game, name in BOTS.items()
        }
        page.goto("/")
        for guest in guests.values():
            expect(links_to(page, guest.match, ".wall")).to_be_visible()
        expect(page.locator(".featured .live-picture svg").first).to_be_visible()
        check(page)
        page.get_by_role("link", name="Gomoku", exact=True).first.click()
        expect(links_to(page, guests["gomoku"].match, ".featured")).to_be_visible()
        expect(links_to(page, guests["noughts-and-crosses"].match, ".wall")).to_have_count(0)
        page.get_by_role("link", name="All live matches").click()
        expect(page.get_by_role("table")).to_contain_text(BOTS["gomoku"])
        for guest in guests.values():
            guest.resign()


def test_a_match_is_pinned(page: Page, arena: BrowserArena) -> None:
    one, two = (played(arena, "gomoku", name) for name in ("Pia the first", "Pia the second"))
    show_live(page, arena, one, two)
    page.goto("/")
    expect(links_to(page, one, ".featured")).to_be_visible()
    page.get_by_role("button", name="Feature Pia the second").press("Enter")
    expect(links_to(page, two, ".featured")).to_be_visible()
    expect(page.get_by_role("heading", name="Now playing")).to_be_focused()
    expect(links_to(page, one, ".boards")).to_be_visible()
    page.reload()
    expect(links_to(page, two, ".featured")).to_be_visible()
    page.get_by_role("button", name="Unpin").click()
    expect(page).to_have_url(f"{arena.url}/")
    expect(page.get_by_role("heading", name="Now playing")).to_be_focused()


def test_a_match_that_was_over_before_its_first_picture_shows_its_end(
    page: Page, arena: BrowserArena, stored: dict[str, str]
) -> None:
    show_live(page, arena, stored["noughts-and-crosses"], stored["gomoku"])
    page.goto("/")
    for board in (page.locator(".featured .live-board"), page.locator(".boards .live-board")):
        expect(board.locator("svg")).to_be_visible()
        expect(board.locator(".live-words")).to_contain_text("wins.")


def test_four_boards_of_battleship_fit_their_tile(page: Page, arena: BrowserArena) -> None:
    matches = [played(arena, "battleship", name, players=4) for name in ("Bea", "Ben")]
    show_live(page, arena, *matches)
    page.goto("/")
    for place in (".featured", ".boards"):
        expect(page.locator(f"{place} .sea")).to_have_count(4)
        around = page.locator(f"{place} .live-picture").bounding_box()
        boards = page.locator(f"{place} .seas").bounding_box()
        assert around is not None
        assert boards is not None
        assert boards["y"] >= around["y"]
        assert boards["y"] + boards["height"] <= around["y"] + around["height"]


def test_the_first_screen_of_a_phone_has_a_board_and_the_way_to_play(
    phone: Page, stored: dict[str, str]
) -> None:
    phone.goto("/")
    expect(phone.locator(".featured svg").first).to_be_visible()
    parts = (
        phone.get_by_role("heading", level=1),
        phone.get_by_role("link", name="Play against a bot"),
        phone.locator(".featured .live-picture"),
    )
    for part in parts:
        box = part.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 844


def held_back(page: Page, requests: str) -> list[Route]:
    """These requests get no answer; the list is filled with them."""
    routes: list[Route] = []

    def keep(route: Route) -> None:
        routes.append(route)

    page.route(requests, keep)
    return routes


def test_the_wall_keeps_its_place_when_matches_come(
    phone: Page, arena: BrowserArena, stored: dict[str, str]
) -> None:
    waiting = held_back(phone, "**/api/v1/live*")
    with phone.expect_request("**/api/v1/live*"):
        phone.goto("/")
    games = phone.locator(".wall-games")
    before = games.bounding_box()
    match = arena.rest.get(f"/matches/{stored['gomoku']}").json() | {"steps": 1, "spectators": 0}
    waiting[0].fulfill(json={"tables": [match], "total": 1})
    expect(links_to(phone, stored["gomoku"], ".featured")).to_be_visible()
    expect(games).to_contain_text("(1)")
    assert games.bounding_box() == before


def test_a_filter_keeps_its_size_when_its_choices_come(phone: Page) -> None:
    waiting = held_back(phone, "**/api/v1/games")
    with phone.expect_request("**/api/v1/games"):
        phone.goto("/contests")
    filters = phone.locator(".filters")
    before = filters.bounding_box()
    waiting[0].continue_()
    expect(filters.locator("option[value=gomoku]")).to_be_attached()
    assert filters.bounding_box() == before


def line(place: int | None, name: str, group: int, provisional: bool = False) -> dict[str, Any]:
    return {
        "place": place, "name": name, "version": None, "owner": "tests", "house": False,
        "rating": 1777.0, "low": 1700.0, "high": 1854.0, "fixed": False, "group": group,
        "provisional": provisional, "games": 60, "wins": 30, "draws": 0, "losses": 30,
        "beatsNext": None,
    }  # fmt: skip


def leaderboard(game: str) -> dict[str, Any]:
    bots = [line(1, "first", 0), line(None, "stranger", 1), line(None, "newcomer", 0, True)]
    return {
        "game": game, "gameType": game.upper(), "bots": bots, "matches": 90, "rated": None,
        "players": 2, "sizes": [2], "options": {}, "optionSets": [], "total": 3, "limit": 3,
        "offset": 0,
    }  # fmt: skip


@pytest.mark.parametrize("path", ["/", "/games/gomoku", "/tv?scene=leaderboard/gomoku"])
def test_ranks_are_shown_as_far_as_they_are_known(page: Page, path: str) -> None:
    board = leaderboard("gomoku")
    page.route("**/api/v1/games/gomoku/leaderboard*", lambda route: route.fulfill(json=board))
    page.goto(path)
    rows = page.locator(".top-bots li, tbody tr").filter(has_text="newcomer")
    expect(rows).to_have_class("provisional")
    expect(rows).to_contain_text("provisional")
    expect(rows).not_to_contain_text("1777")
    names = page.locator(".top-bots, tbody").filter(has_text="newcomer")
    expect(names).to_contain_text("not comparable")
    text = names.inner_text()
    assert text.index("first") < text.index("stranger") < text.index("newcomer")
