"""The organiser's pages in a browser: signing in, Battlecube games, boat rooms, and the log of it
all.
"""

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from playwright.sync_api import Page, expect

from tests.browser.arena import OPERATOR
from tests.patience import PATIENCE
from tests.server.rooms.boats.clients import BOARD


def sign_in(page: Page, path: str) -> None:
    page.goto(path)
    page.get_by_label("Operator's token").fill(OPERATOR)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


@contextmanager
def sailor(port: int, name: str) -> Iterator[IO[str]]:
    """A player that has joined a boat room."""
    with (
        socket.create_connection(("127.0.0.1", port), PATIENCE) as line,
        line.makefile("rw", encoding="latin-1") as lines,
    ):
        lines.write(f"J|{name}|{BOARD}\n")
        lines.flush()
        yield lines


def test_a_wrong_token_is_refused(page: Page) -> None:
    page.goto("/organise")
    page.get_by_label("Operator's token").fill("a wrong one")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("Operator's token")).to_be_visible()


def test_battlecube_games_are_started_and_logged(page: Page) -> None:
    sign_in(page, "/organise/battlecube")
    form = page.get_by_role("form", name="Start Battlecube games")
    form.get_by_label("Milliseconds between ticks").fill("0")
    form.get_by_label("Ticks at most").fill("20")
    form.get_by_label("Games in a row").fill("3")
    form.get_by_label("Name").first.fill("<b>Ada</b>")
    form.get_by_role("button", name="Start").click()
    run = page.locator("section.cube-run").first
    expect(run).to_contain_text("3 of 3 games played")
    expect(run).to_contain_text("<b>Ada</b>")
    expect(run.locator("b")).to_have_count(0)
    page.get_by_role("link", name="Audit log").click()
    expect(page.get_by_role("table")).to_contain_text(re.compile("cube", re.IGNORECASE))


def test_a_boat_room_is_hosted(page: Page) -> None:
    sign_in(page, "/organise/boats")
    form = page.get_by_role("form", name="Open a room")
    form.get_by_role("textbox", name="Title").fill("the <i>bay</i>")
    form.get_by_role("button", name="Open the room").click()
    room = page.get_by_role("region", name="Room the <i>bay</i>")
    expect(room).to_contain_text("Players join at port")
    found = re.search(r"at port (\d+)", room.inner_text())
    assert found
    with sailor(int(found[1]), "ada"), sailor(int(found[1]), "bob"):
        expect(room).to_contain_text("2 joined")
        room.get_by_role("button", name="Start the game").click()
        expect(room.get_by_role("table")).to_contain_text("ada")
        room.get_by_role("button", name="Abort the game").click()
        page.get_by_role("dialog").get_by_role("button", name="Abort").click()
        expect(room.get_by_role("table")).to_have_count(0)
    room.get_by_role("button", name="Close the room").click()
    page.get_by_role("dialog").get_by_role("button", name="Close the room").click()
    expect(page.get_by_text("the <i>bay</i>: ")).to_be_visible()
