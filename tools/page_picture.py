"""Take docs/page.png, the picture in the README: a match of Bomberman in a real browser."""

import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from tests.browser.arena import serving
from tests.browser.conftest import FLAGS
from tools import browser as browsers

from botdrome.bots.house import HOUSE, seated
from botdrome.bots.simulate import simulate
from botdrome.catalogue import CATALOGUE
from botdrome.match.match import Match
from botdrome.match.record import match_file

FILE = Path(__file__).parents[1] / "docs" / "page.png"
NAMES = ("ada", "bob", "cleo", "dan")
SEED, STEP = 3, 121


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder)) as arena,
        sync_playwright() as playwright,
    ):
        file = Path(folder) / "bomberman.jsonl"
        file.write_bytes(example_file())
        chromium = playwright.chromium.launch(executable_path=browsers.find(), args=FLAGS)
        page = chromium.new_page(viewport={"width": 1180, "height": 860})
        page.goto(f"{arena.url}/open")
        page.locator("input[type=file]").set_input_files(file)
        bar = page.get_by_label("Position in the match")
        bar.fill(str(STEP))
        bar.blur()
        page.wait_for_timeout(2000)
        page.screenshot(path=FILE)
        chromium.close()


def example_file() -> bytes:
    row = CATALOGUE["bomberman"]
    bots = [seated(HOUSE[row.name]["sapper"], player) for player in range(len(NAMES))]
    return match_file(simulate(Match(row.game, len(NAMES), row.terms, SEED), bots), NAMES)


if __name__ == "__main__":
    main()
