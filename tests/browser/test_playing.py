"""People play each game in a browser against a house bot, to the end: by mouse,
keyboard and touch.
"""

import re
from collections.abc import Callable

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.arena import BrowserArena
from tests.browser.faults import serious_faults
from tests.browser.looking import looking

Act = Callable[[Page], None]
OPEN_SQUARE = ".stage .cell.open"


def begin(page: Page, title: str, **options: str) -> None:
    """Fill in the form of the play page, as a person would."""
    page.goto("/play")
    page.get_by_role("radio", name=title).check()
    page.get_by_role("radio", name="Beginner").check()
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
    over, next_board = result(page), page.get_by_role("button", name="Next board")
    expect(ready.or_(over).or_(next_board).first).to_be_visible()
    if next_board.is_visible():
        next_board.click()
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


def resign(page: Page) -> None:
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("button", name="Yes, resign").click()


def test_a_person_resigns(page: Page) -> None:
    begin(page, "Gomoku")
    squares = page.locator(OPEN_SQUARE)
    for _ in range(2):
        assert play_on(page, squares, lambda _: squares.first.click())
    resign(page)
    expect(result(page)).to_contain_text("You lose.")
    see_the_end(page)


def test_a_bomb_is_aimed_in_the_cube(page: Page) -> None:
    begin(page, "Battlecube", ticks="6", edge="5")
    wait = page.get_by_role("button", name="Wait", exact=True)
    space = page.locator("canvas.cube-space")
    page.get_by_role("button", name="Aim in the cube").click()
    page.get_by_role("slider", name="Layer").fill("2")
    expect(page.get_by_label("Bomb z")).to_have_value("2")
    box = space.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    expect(page.get_by_label("Bomb x")).to_have_value("2")
    expect(page.get_by_label("Bomb y")).to_have_value("2")
    assert play_on(page, wait, lambda _: page.mouse.click(x, y))
    expect(page.get_by_role("region", name="What happened")).to_contain_text("bombs 2, 2, 2")


def test_a_board_that_is_over_stays_until_a_click(page: Page) -> None:
    begin(page, "Gomoku", size="5", win_length="3")
    squares = page.locator(OPEN_SQUARE)
    over = page.get_by_role("region", name="The board is over")
    expect(squares.first).to_be_visible()
    while not over.is_visible():
        assert play_on(page, squares, lambda _: squares.first.click())
        expect(squares.or_(over).first).to_be_visible()
    expect(over).to_contain_text("Board 1")
    expect(over).to_contain_text("Boards: you ")
    expect(squares).to_have_count(0)
    page.locator(".stage").click()
    expect(over).to_have_count(0)
    expect(squares.first).to_be_visible()
    expect(page.locator(".player-boards").first).to_be_visible()


RECORDER = """
window.heard = [];
window.AudioContext = class {
  currentTime = 0;
  destination = {};
  resume() { return Promise.resolve(); }
  createGain() { return { gain: { setValueAtTime() {}, exponentialRampToValueAtTime() {} }, connect: (to) => to }; }
  createOscillator() {
    const tone = { frequency: { value: 0 }, connect: (to) => to, start: () => window.heard.push(tone.frequency.value), stop() {} };
    return tone;
  }
};
"""


def test_sounds_are_off_until_they_are_wanted_and_remembered(page: Page) -> None:
    page.add_init_script(RECORDER)
    begin(page, "Noughts and crosses")
    squares = page.locator(OPEN_SQUARE)
    switch = page.get_by_role("button", name="Sounds")
    expect(switch).to_have_attribute("aria-pressed", "false")
    assert play_on(page, squares, lambda _: squares.first.click())
    assert page.evaluate("heard") == []
    switch.click()
    expect(switch).to_have_text("Sounds on")
    while play_on(page, squares, lambda _: squares.first.click()):
        pass
    page.wait_for_function("heard.slice(-3).join() === '523,659,784'")
    page.reload()
    page.get_by_role("button", name="Play", exact=True).click()
    expect(switch).to_have_attribute("aria-pressed", "true")


def test_levels_have_names_and_the_usual_one_is_easy(page: Page) -> None:
    page.goto("/play?game=gomoku")
    expect(page.get_by_role("radio", name="Easy")).to_be_checked()
    levels = page.get_by_role("group", name="Level")
    expect(levels.locator(".choice-title")).to_have_text(["Beginner", "Easy", "Medium", "Hard"])
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.get_by_role("list", name="Players")).to_contain_text("house:novice")


def test_an_invitation_names_the_host_and_a_rematch_asks(
    page: Page, chromium: Browser, arena: BrowserArena
) -> None:
    page.goto("/play")
    page.get_by_label("Your name").fill("Ann the host")
    page.get_by_role("radio", name="A friend").check()
    page.get_by_role("button", name="Play", exact=True).click()
    link = page.get_by_role("textbox", name="Link of the invitation").input_value()
    with looking(chromium, arena) as other:
        other.goto(link)
        expect(other.get_by_text("Ann the host invites you to a match.")).to_be_visible()
        other.get_by_label("Your name").fill("Bob the guest")
        other.get_by_role("button", name="Play", exact=True).click()
        resign(other)
        expect(result(page)).to_contain_text("You win.")
        other.get_by_role("button", name="Ask Ann the host for a rematch").click()
        expect(page.get_by_text("Bob the guest asks for a rematch.")).to_be_visible()
        assert serious_faults(page) == []
        page.get_by_role("button", name="Play again").click()
        resign(page)
        page.get_by_role("button", name="Ask Bob the guest for a rematch").click()
        expect(page.get_by_text("Asked for a rematch: Bob the guest")).to_be_visible()
        other.get_by_role("button", name="No, thanks").click()
        expect(page.get_by_role("alert")).to_contain_text("does not want to play")


def test_people_without_a_common_word_play_again_after_both_have_reloaded(
    page: Page, chromium: Browser, arena: BrowserArena
) -> None:
    with looking(chromium, arena) as other:
        for one, name in ((page, "Cleo"), (other, "Dan")):
            one.goto("/play/gomoku?pace=slow&invite=here")  # else house bots come
            one.get_by_label("Your name").fill(name)
            one.get_by_role("button", name="Play", exact=True).click()
        for one in (page, other):
            expect(one.get_by_role("list", name="Players")).to_contain_text("Dan")
            expect(one).to_have_url(re.compile("match="))
            one.goto(one.url.replace("invite=here&", ""))
            expect(one.get_by_role("button", name="Resign")).to_be_visible()
        resign(other)
        expect(result(page)).to_contain_text("You win.")
        other.get_by_role("button", name="Ask Cleo for a rematch").click()
        page.get_by_role("button", name="Play again").click()
        for one in (page, other):
            expect(one).to_have_url(re.compile("invite=[0-9a-f]{32}&.*match="))
        resign(page)
        expect(result(other)).to_contain_text("You win.")
