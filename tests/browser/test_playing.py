"""People play each game in a browser against a house bot, to the end: by mouse,
keyboard and touch.
"""

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

Act = Callable[[Page], None]
OPEN_SQUARE = ".stage .cell.open"


def begin(page: Page, title: str, **options: str) -> None:
    """Fill in the form of the play page, as a person would."""
    page.goto("/play")
    page.get_by_role("radio", name=title).check()
    page.get_by_role("combobox", name="House bot").select_option("house:random")
    if options:
        page.get_by_text("Options of the game").click()
    for name, value in options.items():
        page.locator(".play-options label").filter(has=page.get_by_text(name, exact=True)).locator(
            "input"
        ).fill(value)
    page.get_by_label("Your name").fill("Ann <b>")
    page.get_by_role("button", name="Play", exact=True).click()


def result(page: Page) -> Locator:
    return page.get_by_role("region", name="Result")


def play_on(page: Page, ready: Locator, act: Act) -> bool:
    """Make one move and wait for another position or the end.

    Return False if the match was over before.
    """
    over = result(page)
    expect(ready.or_(over).first).to_be_visible()
    if over.is_visible():
        return False
    position = page.locator(".position-text p")
    before = position.text_content() or ""
    act(page)
    changed = position.filter(has_not_text=re.compile(f"^{re.escape(before)}$"))
    expect(changed.or_(over)).not_to_have_count(0)
    return True


def see_the_end(page: Page) -> None:
    """The links after a match, such as the replay."""
    expect(result(page).get_by_role("heading")).to_be_visible()
    expect(result(page).get_by_role("button", name="Rematch")).to_be_visible()
    result(page).get_by_role("link", name="Watch the replay").click()
    expect(page.locator("h1")).to_contain_text("Ann <b>")
    expect(page.get_by_role("heading", name="Ann <b>").locator("b")).to_have_count(0)
    expect(page.get_by_role("slider", name="Position in the match")).to_be_visible()


def test_noughts_and_crosses_by_mouse(page: Page) -> None:
    begin(page, "Noughts and crosses")
    squares = page.locator(OPEN_SQUARE)
    while play_on(page, squares, lambda _: squares.first.click()):
        pass
    see_the_end(page)


def test_battleship_by_mouse(page: Page) -> None:
    begin(page, "Battleship", width="6", height="6", boats="A3 B2")
    fleet = page.get_by_role("button", name="Place this fleet")
    expect(fleet).to_be_enabled()
    page.get_by_role("button", name="Random fleet").click()
    assert play_on(page, fleet, lambda _: fleet.click())
    squares = page.locator(OPEN_SQUARE)
    while play_on(page, squares, lambda _: squares.last.click()):
        pass
    see_the_end(page)


def test_battlecube_by_mouse(page: Page) -> None:
    begin(page, "Battlecube", ticks="6")
    wait = page.get_by_role("button", name="Wait", exact=True)
    expect(page.locator("canvas.cube-space")).to_be_visible()
    assert play_on(page, wait, lambda _: page.get_by_role("button", name="Drop a bomb").click())
    while play_on(page, wait, lambda _: wait.click()):
        pass
    see_the_end(page)


def test_bumblebots_by_keyboard(page: Page) -> None:
    begin(page, "Bumblebots", ticks="4")
    send = page.get_by_role("button", name="Send the orders")
    orders = iter("wexz" * 4)

    def order(_: Page) -> None:
        page.keyboard.press(next(orders))
        page.keyboard.press("Enter")

    while play_on(page, send, order):
        pass
    see_the_end(page)


def test_bomberman_by_keyboard(page: Page) -> None:
    begin(page, "Bomberman", rounds="6")
    wait = page.get_by_role("button", name="wait", exact=True)
    keys = iter(("ArrowRight", "ArrowLeft", "Space", *["Period"] * 20))
    expect(wait).to_be_enabled()

    def act(_: Page) -> None:
        page.keyboard.press(next(keys))
        page.keyboard.press("Period")

    while play_on(page, wait, act):
        pass
    see_the_end(page)


def test_gomoku_by_touch_on_a_phone(phone: Page) -> None:
    begin(phone, "Gomoku")
    squares = phone.locator(OPEN_SQUARE)

    def tap(_: Page) -> None:
        """Squares are smaller than a finger: the first tap chooses, the second one plays."""
        square = squares.first
        square.tap()
        expect(phone.locator(".stage .cell:focus")).to_have_count(1)
        square.tap()

    while play_on(phone, squares, tap):
        pass
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    see_the_end(phone)


def test_a_person_resigns(page: Page) -> None:
    begin(page, "Gomoku")
    squares = page.locator(OPEN_SQUARE)
    for _ in range(2):
        assert play_on(page, squares, lambda _: squares.first.click())
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("button", name="Yes, resign").click()
    expect(result(page)).to_contain_text("You lose.")
    see_the_end(page)
