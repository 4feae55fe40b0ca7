"""Contests that are over, and the list of contests."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.arena import OPERATOR, BrowserArena
from tests.browser.held import FORMATS, GAME, path_of, title_of
from tests.browser.looking import looking
from tests.browser.test_every_page import check
from tests.browser.test_wall import show_live


@pytest.fixture
def hall(chromium: Browser, held: BrowserArena) -> Iterator[Page]:
    """A page of the server with contests."""
    with looking(chromium, held) as one:
        yield one


def champion(held: BrowserArena, format_: str) -> str:
    return str(held.rest.get(f"/contest-documents/{format_}").json()["champions"][0])


def test_a_knockout_has_a_champion_named_rounds_and_byes(hall: Page, held: BrowserArena) -> None:
    hall.goto(path_of("knockout"))
    expect(hall.get_by_role("heading", name=title_of("knockout"))).to_be_visible()
    expect(hall.get_by_role("group", name="Champion")).to_contain_text(champion(held, "knockout"))
    expect(hall.locator(".bracket-column > p")).to_have_text(
        ["Quarter-finals", "Semi-finals", "Final"]
    )
    expect(hall.locator(".bracket-box.bye")).to_have_text(
        [re.compile("ada *bye"), re.compile("bob *bye")]
    )
    final = hall.locator(".bracket-column").last
    expect(final.locator(".winner")).to_contain_text(champion(held, "knockout"))
    expect(hall.get_by_text("Round 3: final")).to_be_visible()
    check(hall)
    final.get_by_role("link", name="Match 1").press("Enter")
    expect(hall.get_by_role("link", name=title_of("knockout"))).to_be_visible()


def test_the_grand_final_is_at_the_right(hall: Page) -> None:
    hall.goto(path_of("double-elimination"))
    for title in ("Winners’ bracket", "Losers’ bracket", "Grand final"):
        expect(hall.get_by_role("heading", name=title)).to_be_visible()
    final = hall.locator(".side-final").bounding_box()
    others = [
        hall.locator(f".side-{side} .bracket-columns").bounding_box()
        for side in ("winners", "losers")
    ]
    assert final is not None
    for box in others:
        assert box is not None
        assert box["x"] + box["width"] <= final["x"]
    expect(hall.get_by_text("Round 2: winners’ semi-finals, losers’ round 1")).to_be_visible()
    check(hall)


def test_groups_have_tables_and_a_bracket(hall: Page, held: BrowserArena) -> None:
    hall.goto(path_of("groups"))
    for number, lines in enumerate(held.rest.get("/contest-documents/groups").json()["groups"], 1):
        table = hall.get_by_role("table", name=f"Group {number}")
        expect(table.get_by_role("rowheader")).to_have_text([line["bot"] for line in lines])
        expect(table.locator(".advances")).to_have_count(2)
    expect(hall.locator(".bracket-column > p")).to_have_text(["Semi-finals", "Final"])
    check(hall)


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_has_a_crosstable(hall: Page, format_: str) -> None:
    hall.goto(path_of(format_))
    table = hall.get_by_role("region", name="Crosstable, scrolls sideways")
    expect(table.get_by_role("row")).to_have_count(7)
    expect(table.locator("td.ahead").first).to_be_visible()


def test_each_contest_is_listed_once_with_its_champion_and_results(
    hall: Page, held: BrowserArena
) -> None:
    hall.goto("/contests")
    finished = hall.get_by_role("group", name="Contests that are over")
    for format_ in FORMATS:
        row = hall.get_by_role("row").filter(has_text=title_of(format_))
        expect(row).to_have_count(1)
        expect(row).to_contain_text(champion(held, format_))
    expect(finished.get_by_role("row")).to_have_count(len(FORMATS) + 1)
    for nothing in ("No contest is open for entry.", "No contest is running."):
        expect(hall.get_by_text(nothing)).to_be_visible()
    with hall.expect_download() as saved:
        finished.get_by_role("row").filter(has_text=title_of("swiss")).get_by_role(
            "link", name="CSV"
        ).click()
    assert saved.value.suggested_filename == "swiss.csv"
    assert saved.value.path().read_text().startswith("place,bot,wins")
    check(hall)


def test_results_of_a_contest_are_files(hall: Page) -> None:
    hall.goto(path_of("round-robin"))
    for table, first in (("Standings", "place,bot"), ("Matches", "round,meeting,game,match")):
        with hall.expect_download() as saved:
            hall.get_by_role("link", name=f"{table} as CSV").click()
        assert saved.value.path().read_text().startswith(first)


def test_titles_are_shown_instead_of_names(hall: Page, held: BrowserArena) -> None:
    hall.goto("/matches")
    expect(hall.get_by_role("link", name=title_of("groups")).first).to_be_visible()
    match = held.rest.get("/matches", params={"contest": "knockout"}).json()["matches"][0]["id"]
    show_live(hall, held, match)
    hall.goto("/")
    expect(hall.locator(".featured .live-words")).to_contain_text(title_of("knockout"))
    expect(hall.get_by_role("list", name="Finished contests")).to_contain_text(
        f"{title_of('groups')} Noughts and crosses · Groups, then knockout · won by"
    )


def organise(arena: BrowserArena, path: str, body: dict[str, str]) -> None:
    token = {"authorization": f"Bearer {OPERATOR}"}
    arena.rest.post(f"/operator/{path}", json=body, headers=token).raise_for_status()


def test_an_open_contest_has_a_schedule_in_the_visitors_zone_and_a_way_to_enter(
    chromium: Browser, arena: BrowserArena
) -> None:
    cup = (
        f'name = "spring"\ntitle = "Spring Cup"\ngame = "{GAME}"\nstart = 2099-03-01T12:30:00Z\n'
        "end = 2099-03-01T20:00:00Z\n"
    )
    organise(arena, "contests", {"toml": cup})
    organise(arena, "contest-actions/spring", {"action": "open"})
    with looking(chromium, arena, timezone_id="Asia/Tokyo", locale="en-GB") as page:
        page.goto("/contests")
        row = page.get_by_role("row").filter(has_text="Spring Cup")
        expect(row).to_contain_text("Sun, 1 Mar 2099, 21:30 GMT+9")
        row.get_by_role("link", name="enter a bot").press("Enter")
        expect(page.locator(".schedule")).to_contain_text("Ends Mon, 2 Mar 2099, 05:00 GMT+9")
        expect(page.get_by_role("form", name="Enter or withdraw a bot")).to_be_in_viewport()
    organise(arena, "contest-actions/spring", {"action": "end"})
