"""Take screenshots of pages of a server that runs, at the sizes of a desk and a phone, in light and
dark.

python -m tests.browser.screenshots URL FOLDER PATH...
"""

import sys
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, sync_playwright
from tools import browser as browsers

from tests.browser.conftest import FLAGS
from tests.browser.test_every_page import SIZES

Theme = Literal["light", "dark"]


def main() -> None:
    url, folder, *paths = sys.argv[1:]
    Path(folder).mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browsers.find(), args=FLAGS)
        for path in paths:
            for size in SIZES:
                shoot(browser, url, path, size, "light", Path(folder))
            shoot(browser, url, path, "desk", "dark", Path(folder))


def shoot(browser: Browser, url: str, path: str, size: str, theme: Theme, folder: Path) -> None:
    width, height = SIZES[size]
    with browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme
    ) as context:
        page = context.new_page()
        page.goto(url + path)
        page.locator("main h1, main [role=alert]").first.wait_for()
        page.wait_for_timeout(1500)
        name = path.strip("/").replace("/", "-").replace("?", "-") or "front"
        page.screenshot(path=folder / f"{name}-{size}-{theme}.png", full_page=True)


if __name__ == "__main__":
    main()
