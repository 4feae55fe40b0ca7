"""The pages when things are not as usual: in the dark, and without a connection."""

import re

from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from tests.browser.arena import BrowserArena
from tests.browser.looking import looking


def test_the_theme_is_switched_and_kept(page: Page) -> None:
    page.goto("/")
    root = page.locator("html")
    page.get_by_role("button", name="Switch to the dark theme").click()
    expect(root).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(root).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="Switch to the light theme").click()
    expect(root).to_have_attribute("data-theme", "light")


def test_a_dark_system_has_dark_pages(chromium: Browser, arena: BrowserArena) -> None:
    with looking(chromium, arena, color_scheme="dark") as page:
        page.goto("/")
        expect(page.get_by_role("button", name="Switch to the light theme")).to_be_visible()


def test_a_player_is_told_of_a_lost_connection_and_comes_back(page: Page) -> None:
    sockets: list[WebSocketRoute] = []

    def connect(route: WebSocketRoute) -> None:
        sockets.append(route)
        route.connect_to_server()

    page.route_web_socket(re.compile("/play$"), connect)
    page.goto("/play/gomoku?opponent=house:random&pace=stepped")
    page.get_by_role("button", name="Play", exact=True).click()
    squares = page.locator(".stage .cell.open")
    squares.first.click()
    position = page.locator(".position-text p")
    expect(position).to_contain_text("The last move was")
    page.unroute_all()
    page.route_web_socket(re.compile("/play$"), lambda route: route.close(code=1011))
    sockets[-1].close(code=1011)
    lost = page.locator(".play-lost")
    expect(lost).to_contain_text("Your seat is kept for a while.")
    page.route_web_socket(re.compile("/play$"), connect)
    expect(lost).to_have_count(0)
    expect(squares.first).to_be_visible()
    expect(position).to_contain_text("The last move was")


def test_a_page_that_lost_its_server_says_so_and_comes_back(page: Page) -> None:
    page.route("**/api/v1/games*", lambda route: route.abort())
    page.goto("/play")
    alert = page.get_by_role("alert")
    expect(alert.get_by_role("button", name="Try again")).to_be_visible()
    page.unroute("**/api/v1/games*")
    expect(page.get_by_role("radio", name="Gomoku")).to_be_visible()


def test_a_match_is_shown_when_the_server_is_back(page: Page, stored: dict[str, str]) -> None:
    page.route("**/film", lambda route: route.abort())
    page.goto(f"/matches/{stored['gomoku']}")
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer.")
    page.unroute("**/film")
    expect(page.get_by_label("Position in the match")).to_be_visible()
