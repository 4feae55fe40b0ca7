"""Pages in the browser: names are text, tables are sorted by the server, and owners see why their
bots lost.
"""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect
from websockets.sync.client import ClientConnection

from tests.browser.arena import BrowserArena
from tests.patience import PATIENCE

GAME = "noughts-and-crosses"
BAD_NAME = "<img src=x onerror=alert(1)>"
CUP = "a/b cup"


def play(arena: BrowserArena, tokens: dict[str, str], **wish: Any) -> None:
    """One match, in which noughts send an illegal move first."""
    with ExitStack() as stack, ThreadPoolExecutor() as threads:
        sockets = {
            name: stack.enter_context(arena.login(GAME, name, token, **wish))
            for name, token in tokens.items()
        }
        for _ in threads.map(answer_all, sockets.values(), sockets):
            pass


def answer_all(socket: ClientConnection, name: str) -> None:
    faults = 1
    while not (state := json.loads(socket.recv(PATIENCE))["state"])["result"]:
        if name in state["waitingFor"]:
            mark = "X" if state["marks"]["X"] == name else "O"
            free = [
                [row, column]
                for row in range(3)
                for column in range(3)
                if not state["board"][row][column]
            ]
            fault, faults = mark == "O" and faults > 0, faults - (mark == "O")
            socket.send(json.dumps({"mark": mark, "space": [9, 9] if fault else free[0]}))


@pytest.fixture(scope="session")
def tokens(arena: BrowserArena) -> Iterator[dict[str, str]]:
    tokens = {name: arena.register(GAME, name) for name in ("zoe of the lists", BAD_NAME)}
    play(arena, tokens, contest=CUP)
    while "timeout" in [
        seat["cause"] for seat in newest(arena)["seats"]
    ]:  # the machine was too busy for 5 seconds
        play(arena, tokens, contest=CUP)
    yield tokens


def newest(arena: BrowserArena) -> dict[str, Any]:
    match: dict[str, Any] = arena.rest.get("/matches", params={"contest": CUP}).json()["matches"][0]
    return match


def test_a_name_is_shown_as_text_everywhere(page: Page, tokens: dict[str, str]) -> None:
    pages = (
        "/",
        "/bots",
        "/matches",
        f"/games/{GAME}",
        f"/contests/{GAME}/{quote(CUP, safe='')}",
        f"/bots/{quote(BAD_NAME, safe='')}",
    )
    for path in pages:
        page.goto(path)
        expect(page.get_by_text(BAD_NAME).first).to_be_visible()
        assert page.locator("img").count() == 0


def test_a_table_is_sorted_by_the_server(page: Page, tokens: dict[str, str]) -> None:
    page.goto(f"/bots?game={GAME}")
    head = page.get_by_role("columnheader", name="Bot", exact=True)
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(page.locator("tbody th a").first).to_have_text(BAD_NAME)
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(page.locator("tbody th a").first).to_have_text("zoe of the lists")
    assert "sort=-name" in page.url


def test_a_search_leads_to_a_bot(page: Page, tokens: dict[str, str]) -> None:
    page.goto("/")
    box = page.get_by_role("searchbox", name="Search for bots, contests and matches")
    box.fill("ZOE")
    box.press("Enter")
    page.get_by_role("link", name="zoe of the lists").click()
    expect(page.get_by_role("heading", name="zoe of the lists")).to_be_visible()
    expect(page.get_by_text("provisional").first).to_be_visible()


def test_a_contest_shows_standings_and_progress(page: Page, tokens: dict[str, str]) -> None:
    page.goto(f"/contests/{GAME}/{quote(CUP, safe='')}")
    expect(page.get_by_role("heading", name=CUP)).to_be_visible()
    expect(page.get_by_text("1 of 10 matches played")).to_be_visible()
    expect(page.get_by_role("region", name="Crosstable, scrolls sideways")).to_be_visible()


def test_an_owner_sees_why_its_bot_lost(
    page: Page, arena: BrowserArena, tokens: dict[str, str]
) -> None:
    match = newest(arena)
    seat = 1
    name = match["players"][seat]
    page.goto(f"/matches/{match['id']}/why/{seat}")
    field = page.get_by_label(f"The password of {name}")
    field.fill("no such password")
    page.get_by_role("button", name="Open the flight record").click()
    expect(page.get_by_role("alert")).to_contain_text("not the token")
    field.fill(tokens[name])
    page.get_by_role("button", name="Open the flight record").click()
    line = page.locator(".flight-line[aria-current]")
    expect(line).to_contain_text("illegal: a row is from 0 to 2, not 9")
    expect(line).to_contain_text("step 1")
    page.reload()
    expect(line).to_contain_text("illegal")


def test_a_page_past_the_end_leads_back(page: Page, tokens: dict[str, str]) -> None:
    page.goto("/bots?from=5000")
    page.get_by_role("button", name="To the first page").click()
    expect(page.get_by_role("table")).to_be_visible()
