"""A class in the browser: the organiser makes it, participants join by page, and the projector shows
them.
"""

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.browser.arena import BrowserArena, serving
from tests.browser.faults import serious_faults
from tests.browser.looking import looking
from tests.browser.test_every_page import SIZES
from tests.browser.test_organising import sign_in


def create(page: Page, name: str) -> str:
    """The join code of a new class, whose page is shown."""
    sign_in(page, "/organise/classes")
    form = page.get_by_role("form", name="New class")
    form.get_by_label("Name").fill(name)
    form.get_by_role("button", name="Create the class").click()
    words = page.get_by_role("region", name="Class").inner_text()
    found = re.search(r"\w{4}-\w{4}-\w{4}", words)
    assert found
    return found[0]


def join(page: Page, code: str, name: str) -> None:
    page.goto(f"/join-class#{code}")
    expect(page.get_by_label("Join code")).to_have_value(code)
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Join").click()


def test_a_participant_joins_by_page_and_the_projector_shows_it(
    page: Page, phone: Page, arena: BrowserArena
) -> None:
    code = create(page, "Robots <b>1</b>")
    assert serious_faults(page) == []
    page.get_by_role("link", name="Show on a projector").click()
    projector = page.get_by_role("dialog", name="The class Robots <b>1</b>")
    expect(projector.get_by_text(code)).to_be_visible()
    expect(projector.get_by_role("heading", name="0 in the class")).to_be_visible()
    join(phone, code, "Ada")
    expect(phone.get_by_text("You are Ada in the class Robots <b>1</b>.")).to_be_visible()
    expect(projector.get_by_role("heading", name="1 in the class")).to_be_visible()
    expect(projector.get_by_role("listitem").filter(has_text="Ada")).to_be_visible()
    phone.get_by_label("Name of the bot").fill("ada-robot")
    phone.get_by_role("button", name="Register").click()
    expect(phone.get_by_text("ada-robot is yours.")).to_be_visible()
    assert serious_faults(phone) == []
    password = phone.get_by_label("the password of the bot", exact=True).inner_text().strip()
    with arena.login("noughts-and-crosses", "ada-robot", password, opponent="house:random") as bot:
        bot.recv()
        result = projector.get_by_role("listitem").filter(has_text="ada-robot (Ada)")
        expect(result).to_be_visible()
        expect(phone.get_by_role("listitem").filter(has_text="random house")).to_be_visible()
    assert serious_faults(page) == []
    expect(phone.get_by_role("link", name="ada-robot", exact=True)).to_be_visible()


def test_the_projector_has_a_qr_code_of_the_page_that_phones_can_open(
    chromium: Browser, tmp_path: Path
) -> None:
    public = "https://robots.example.org"
    with serving(tmp_path, network_public_url=public) as arena, looking(chromium, arena) as page:
        code = create(page, "Robots")
        page.get_by_role("link", name="Show on a projector").click()
        projector = page.get_by_role("dialog", name="The class Robots")
        expect(projector.get_by_role("img", name="A QR code of")).to_be_visible()
        expect(projector.get_by_text("robots.example.org/join-class")).to_be_visible()
        expect(projector.get_by_text(code)).to_be_visible()
        for width, height in SIZES.values():
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert serious_faults(page) == []
        page.keyboard.press("Escape")
        expect(page.get_by_role("link", name="Show on a projector")).to_be_visible()


def test_a_wrong_code_and_a_taken_name_are_told(page: Page, phone: Page) -> None:
    code = create(page, "Ants")
    join(phone, "0000-0000-000", "Ada")
    expect(phone.get_by_role("alert")).to_contain_text("12 letters and digits")
    assert serious_faults(phone) == []
    join(phone, code, "Ada")
    expect(phone.get_by_text("You are Ada in the class Ants.")).to_be_visible()
    join(phone, code, "ada")
    expect(phone.get_by_role("alert")).to_contain_text("the name 'Ada' is taken in this class")


def test_participants_are_renamed_merged_and_removed(page: Page, phone: Page) -> None:
    code = create(page, "Bees")
    for name in ("Ada", "Ada 2", "Bob"):
        join(phone, code, name)
        expect(phone.get_by_text(f"You are {name} in the class Bees.")).to_be_visible()
    question = page.get_by_role("dialog")
    page.get_by_role("button", name="Merge Ada 2").click()
    question.get_by_label("The participant that stays").fill("Ada")
    question.get_by_role("button", name="Merge").click()
    expect(page.get_by_role("button", name="Rename Ada 2")).to_have_count(0)
    page.get_by_role("button", name="Rename Ada", exact=True).click()
    question.get_by_label("New name").fill("Eva")
    question.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("button", name="Remove Eva")).to_be_visible()
    assert serious_faults(page) == []
    page.get_by_role("button", name="Remove Bob").click()
    question.get_by_role("button", name="Remove").click()
    expect(phone.get_by_role("alert")).to_contain_text("Bob is no longer in the class Bees.")
    page.get_by_role("button", name="Close", exact=True).click()
    question.get_by_role("button", name="Close the class").click()
    expect(page.get_by_role("region", name="Class")).to_contain_text("closed")
    page.get_by_role("button", name="Delete", exact=True).click()
    question.get_by_role("button", name="Delete the class").click()
    expect(page.get_by_role("form", name="New class")).to_be_visible()
    expect(page.get_by_role("link", name="Bees")).to_have_count(0)
