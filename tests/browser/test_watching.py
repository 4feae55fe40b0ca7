"""Watching matches in a browser: live ones and stored ones of each game, wherever one wants to
look.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from botdrome.catalogue import CATALOGUE
from tests.browser.arena import BrowserArena
from tests.browser.guests import played, seated
from tests.browser.test_every_page import check
from tests.docs.pages import blocks
from tests.patience import PATIENCE


@pytest.mark.parametrize("game", CATALOGUE)
def test_a_live_match_is_watched_to_its_end(page: Page, arena: BrowserArena, game: str) -> None:
    with seated(arena, game) as guest:
        guest.move()
        page.goto(f"/matches/{guest.match}")
        expect(page.get_by_role("status").filter(has_text="Live")).to_be_visible()
        expect(page.get_by_role("list", name="Players")).to_contain_text("Ann of the tests")
        steps = page.locator(".caption-step")
        before = steps.inner_text()
        guest.move()
        expect(steps).not_to_have_text(before)
        guest.resign()
    expect(page.locator(".caption-words")).to_contain_text("The match ends")
    expect(page.get_by_role("region", name="Result")).to_contain_text("Ann of the tests")
    expect(page.get_by_role("link", name="Download the match file")).to_be_visible()


@pytest.mark.parametrize("game", ["gomoku", "battleship"])
def test_a_match_that_is_joined_in_the_middle_goes_back_to_its_start(
    page: Page, arena: BrowserArena, game: str
) -> None:
    with seated(arena, game) as guest:
        guest.move()
        guest.move()
        page.goto(f"/matches/{guest.match}")
        steps, words = page.locator(".caption-step"), page.locator(".caption-words")
        expect(steps).to_have_text(re.compile(r"^([1-9]\d*) / \1$"))
        page.get_by_role("button", name="To the start").click()
        expect(words).to_contain_text("Board 1 begins")
        page.keyboard.press("ArrowRight")
        expect(steps).to_have_text(re.compile("^1 / "))
        guest.move()
        expect(steps).to_have_text(re.compile("^1 / "))
        page.get_by_role("button", name="Back to live").click()
        expect(steps).to_have_text(re.compile(r"^(\d+) / \1$"))
        page.goto(f"/matches/{guest.match}?step=2")
        expect(steps).to_have_text(re.compile("^2 / "))
        check(page)
        guest.resign()


@pytest.mark.parametrize("game", CATALOGUE)
def test_a_stored_match_is_played(page: Page, stored: dict[str, str], game: str) -> None:
    page.goto(f"/matches/{stored[game]}")
    steps = page.locator(".caption-step")
    expect(page.locator(".caption-words")).to_contain_text("The match ends")
    page.get_by_role("button", name="To the start").click()
    expect(steps).to_have_text(re.compile("^0 /"))
    page.get_by_role("button", name="One step on").click()
    expect(steps).to_have_text(re.compile("^1 /"))
    page.keyboard.press("ArrowRight")
    expect(steps).to_have_text(re.compile("^2 /"))
    check(page)
    page.get_by_role("button", name="Play", exact=True).click()
    expect(steps).not_to_have_text(re.compile("^2 /"))
    page.keyboard.press("End")
    expect(page.locator(".caption-words")).to_contain_text("The match ends")
    expect(page.get_by_role("region", name="Result")).to_contain_text("Ann of the tests")
    events = page.get_by_role("region", name="Events")
    expect(events.locator("[aria-current]")).to_contain_text("The match ends")
    expect(page.locator(".headline")).to_have_count(1)
    export = page.get_by_role("link", name="Download as GIF").get_attribute("href")
    assert export == f"/api/v1/matches/{stored[game]}/gif"
    if game == "noughts-and-crosses":  # on a busy machine, the GIF of a long match exceeds 30 s
        assert page.request.get(export).body().startswith(b"GIF89a")


def test_a_death_is_told_with_its_cause_and_leaves_a_cross(page: Page, arena: BrowserArena) -> None:
    with seated(arena, "bomberman") as guest:
        for action in ("PLACE_BOMB", *["WAIT"] * 9):
            if not guest.over:
                guest.socket.send(json.dumps({"move": {"action": action}}))
                guest.ready()
        assert guest.over
    page.goto(f"/matches/{guest.match}")
    expect(page.locator(".bomber-map")).to_be_visible()
    page.keyboard.press("Home")
    expect(page.locator(".bomber-cross")).to_have_count(0)
    page.keyboard.press("End")
    expect(page.locator(".bomber-cross").first).to_be_visible()
    words = "Ann of the tests dies in its own blast, bomb of round 1."
    expect(page.get_by_role("region", name="Events")).to_contain_text(words)


def test_a_long_name_wraps_everywhere(phone: Page, arena: BrowserArena) -> None:
    name = "Wilhelmina" * 6 + "Anna"
    match = played(arena, "battleship", name)
    for path in (
        "/", f"/matches/{match}", "/matches", f"/bots/{name}", f"/matches/{match}/why/0",
        f"/embed/{match}", f"/search?q={name}",
    ):  # fmt: skip
        phone.goto(path)
        expect(phone.get_by_text(name).first).to_be_visible()
        assert phone.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_seek_bar_is_dragged(page: Page, stored: dict[str, str]) -> None:
    page.goto(f"/matches/{stored['gomoku']}")
    bar = page.get_by_role("slider", name="Position in the match")
    expect(bar).to_have_value(bar.get_attribute("max") or "")
    page.keyboard.press("Home")
    expect(bar).to_have_value("0")
    box = bar.bounding_box()
    assert box is not None
    height = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8, height)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, height, steps=4)
    expect(bar).not_to_have_value("0")
    page.mouse.move(box["x"] + box["width"] - 2, height, steps=4)
    page.mouse.up()
    expect(bar).to_have_value(bar.get_attribute("max") or "")
    expect(page.locator(".caption-words")).to_contain_text("The match ends")


def test_a_link_leads_to_a_step(page: Page, stored: dict[str, str]) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.partition("/api/v1")[2]))
    page.goto(f"/matches/{stored['gomoku']}?step=2")
    steps = page.locator(".caption-step")
    expect(steps).to_have_text(re.compile("^2 /"))
    path = f"/matches/{stored['gomoku']}"
    assert next(one for one in asked if one.startswith(path)) == f"{path}/film"
    assert path not in asked, "the server would replay the match a second time"
    page.keyboard.press("ArrowLeft")
    expect(steps).to_have_text(re.compile("^1 /"))
    expect(page).to_have_url(re.compile(r"\?step=1$"))
    page.reload()
    expect(steps).to_have_text(re.compile("^1 /"))


def test_one_goes_back_in_a_live_match_and_returns(page: Page, arena: BrowserArena) -> None:
    with seated(arena, "gomoku") as guest:
        page.goto(f"/matches/{guest.match}")
        steps = page.locator(".caption-step")
        expect(steps).to_have_text("0 / 0")
        guest.move()
        expect(steps).to_have_text("2 / 2")
        page.keyboard.press("Home")
        expect(steps).to_have_text("0 / 2")
        guest.move()
        expect(steps).to_have_text("0 / 4")
        page.get_by_role("button", name="Back to live").click()
        expect(steps).to_have_text("4 / 4")
        guest.resign()


def test_a_match_that_is_not_there_leads_to_those_that_are(
    page: Page, stored: dict[str, str]
) -> None:
    page.goto("/matches/0123456789abcdef")
    expect(page.get_by_role("alert")).to_contain_text("there is no match")
    page.get_by_role("link", name="All matches").click()
    expect(page.get_by_role("table")).to_contain_text("Ann of the tests")


def test_a_board_of_duel_arena_is_shown_alone(
    page: Page, arena: BrowserArena, tmp_path: Path
) -> None:
    (tmp_path / "duellist.py").write_text(blocks("bots-over-duel-arena.md", "python")[0])
    port = arena.rest.get("/server").json()["ports"]["duel"]
    command = [sys.executable, str(tmp_path / "duellist.py"), "127.0.0.1", str(port)]
    players = [
        subprocess.Popen([*command, name], stdout=subprocess.DEVNULL) for name in ("ada", "bob")
    ]
    assert [player.wait(PATIENCE) for player in players] == [0, 0]
    boards = arena.rest.get("/duel/boards").json()["boards"]
    match = [board for board in reversed(boards) if board["match"] == boards[0]["match"]]
    assert len(match) == 2
    for number, board in enumerate(match, 1):
        page.goto(f"/board/{board['id']}")
        expect(page.locator(".caption-step")).to_have_text(f"0 / {board['moves']}")
        expect(page.locator(".caption-words")).to_contain_text(f"Board {number} begins")
        page.keyboard.press("End")
        expect(page.locator(".caption-words")).to_contain_text(
            f"Board {number} ends: {board['winner']} wins"
        )
