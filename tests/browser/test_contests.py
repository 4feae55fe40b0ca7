"""Contests with a document in a browser: an organiser creates one, bots enter and play it, and
everybody sees how it went.
"""

import json
import re
from concurrent.futures import ThreadPoolExecutor

from playwright.sync_api import Page, expect

from botdrome.contest.document import read_document
from tests.browser.arena import BrowserArena
from tests.browser.faults import serious_faults
from tests.browser.test_every_page import SIZES
from tests.browser.test_organising import sign_in
from tests.docs.pages import ROOT

GAME = "noughts-and-crosses"
ADA, BOB = "ada of <b>the</b> cup", "bob of the cup"
CUP = """\
name = "page cup"
title = "The <i>Page</i> Cup"
game = "noughts-and-crosses"
games = 2

[entry]
kind = "password"
password = "sesame"

[[entrants]]
bot = "house:random"
"""


def play_on(arena: BrowserArena, name: str, token: str) -> None:
    """Play until the contest is over."""
    with arena.login(
        GAME, name, token, contest="page cup", features=["again", "notices"]
    ) as socket:
        for text in socket:
            state = json.loads(text).get("state")
            if state and state["result"]:
                socket.send('{"again": true}')
            elif state and name in state["waitingFor"]:
                mark = "X" if state["marks"]["X"] == name else "O"
                free = next(
                    [row, column]
                    for row in range(3)
                    for column in range(3)
                    if not state["board"][row][column]
                )
                socket.send(json.dumps({"mark": mark, "space": free}))


def create_and_open(page: Page) -> None:
    """Create the cup after a mistake, and change it once."""
    sign_in(page, "/organise/contests")
    document = page.get_by_label("Document (TOML)")
    expect(document).to_have_value(re.compile('format = "round-robin"'))
    document.fill(CUP.replace("games = 2", "games = 0"))
    page.get_by_role("button", name="Create the contest").click()
    expect(page.get_by_role("alert")).to_contain_text(
        "line 4: games: a whole number of at least 1, not 0"
    )
    document.fill(CUP)
    page.get_by_role("button", name="Create the contest").click()
    expect(page.get_by_text("page cup is a draft.")).to_be_visible()
    document.fill(CUP.replace("games = 2", "games = 4"))
    page.get_by_role("button", name="Save the document").click()
    expect(page.get_by_text("The document is changed.")).to_be_visible()
    page.get_by_role("button", name="Open for entry").click()
    expect(page.get_by_text("Bots can enter now.")).to_be_visible()


def test_a_contest_is_created_entered_and_played(page: Page, arena: BrowserArena) -> None:
    tokens = {name: arena.register(GAME, name) for name in (ADA, BOB)}
    create_and_open(page)
    page.goto("/")
    current = (
        page.get_by_role("list", name="Open and running contests")
        .get_by_role("listitem")
        .filter(has_text="Page</i> Cup")
    )
    expect(current).to_contain_text("open Noughts and crosses · Round robin · 1 bot")
    current.get_by_role("link", name="enter with its password").click()
    form = page.get_by_role("form", name="Enter or withdraw a bot")
    for name, token in tokens.items():
        form.get_by_label("Bot").fill(name)
        form.get_by_label("Its token").fill(token)
        form.get_by_label("Password of the contest").fill("sesame")
        form.get_by_role("button", name="Enter").click()
        expect(page.get_by_text(f"{name} is in the contest.")).to_be_visible()
    page.goto("/organise/contests?contest=page%20cup")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("dialog").get_by_role("button", name="Start").click()
    expect(page.get_by_text("The contest runs.")).to_be_visible()
    page.get_by_role("button", name="Withdraw house:random").click()
    page.get_by_role("dialog").get_by_label("Reason").fill("it <u>guesses</u>")
    page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
    expect(page.get_by_role("region", name="Log")).to_contain_text("it <u>guesses</u>")
    with ThreadPoolExecutor() as threads:
        list(threads.map(play_on, [arena] * 2, tokens, tokens.values()))
    page.goto(f"/contests/{GAME}/page%20cup")
    expect(page.get_by_text("12 of 12 matches played.")).to_be_visible()
    expect(page.get_by_role("heading", name="Final standings")).to_be_visible()
    expect(page.get_by_role("region", name="Standings").get_by_role("row")).to_have_count(4)
    expect(page.get_by_role("region", name="Standings")).to_contain_text(ADA)
    repeated = "2 distinct games in 4: the interval counts 1 of 2 blocks."
    expect(page.get_by_role("region", name="Standings")).to_contain_text(repeated)
    expect(page.get_by_role("region", name="Log")).to_contain_text("all matches are played")
    expect(page.locator("main b, main i, main u")).to_have_count(0)
    for width, height in SIZES.values():
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert serious_faults(page) == []
    page.get_by_role("region", name="Rounds").get_by_role("link", name="Match 1").first.click()
    expect(page.get_by_role("link", name="The <i>Page</i> Cup")).to_be_visible()


def test_the_examples_are_contests() -> None:
    text = (ROOT / "web/src/pages/contest-examples.ts").read_text()
    entry = re.findall(r"ENTRY = `(.*?)`", text, re.DOTALL)[0]
    examples = re.findall(r"^  '?([a-z-]+)'?: `(.*?)`", text, re.DOTALL | re.MULTILINE)
    assert len(examples) == 7
    for name, example in examples:
        assert read_document(example.replace("${ENTRY}", entry)).format_ == name
