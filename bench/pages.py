"""The pages in Chromium: bytes loaded, layout shift, time until usable, and latency from a step to
the screen.

    python -m bench.pages

The server runs on the first core, the bots on the second, the browser on both. Rendering uses the
CPU, as on a machine without a graphics card.
"""

import os
import platform
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from tests.browser.arena import BrowserArena
from tests.browser.conftest import FLAGS
from tests.browser.guests import played
from tests.browser.test_every_page import PATHS, SIZES
from tools import browser as browsers

from bench.clients import percentiles, shown, start, stop
from bench.server import Server, server
from botdrome.bots.simulate import simulate
from botdrome.catalogue import CATALOGUE
from botdrome.games.game import Raw, View
from botdrome.games.options import with_options
from botdrome.match.match import Match
from botdrome.match.record import match_file

BOARDS = 13
"""The featured match, and as many small boards as the front page has."""
STEPS = 5_000
SEEKS = 40
SECONDS = 6
WATCH = """
  const Plain = WebSocket;
  window.steps = [];
  window.WebSocket = class extends Plain {
    constructor(...words) {
      super(...words);
      this.addEventListener('message', () => {
        const came = performance.now();
        requestAnimationFrame(() => requestAnimationFrame(() => steps.push(performance.now() - came)));
      });
    }
  };
"""
"""Record the time from each message to the second frame after it, which certainly shows its effect.
"""
COUNT = """(seconds) => new Promise((done) => {
  const times = [];
  const tick = (now) => { times.push(now); now - times[0] < seconds * 1000 ? requestAnimationFrame(tick) : done(times); };
  requestAnimationFrame(tick);
})"""
SEEK = """async (to) => {
  const bar = document.querySelector('input[type=range][aria-label="Position in the match"]');
  const began = performance.now();
  bar.value = String(to);
  bar.dispatchEvent(new Event('input', { bubbles: true }));
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return performance.now() - began;
}"""


def main() -> None:
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with browser() as chromium, server({}, "--house") as running:
        print(f"Chromium {chromium.version}, headless")
        front_page(chromium, running)
        every_page(chromium, running)
        seeking(chromium, running)
        live_boards(chromium, running)


@contextmanager
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browsers.find(), args=FLAGS)
        try:
            yield chromium
        finally:
            chromium.close()


def front_page(chromium: Browser, running: Server) -> None:
    loaded, soon = [], []
    for _ in range(7):
        with chromium.new_context() as context:
            page = context.new_page()
            page.goto(running.url)
            page.locator("main h1").wait_for()
            soon.append(page.evaluate("() => new Promise(requestAnimationFrame)"))
            loaded.append(page.evaluate(LOADED))
    print(
        f"front page: {max(loaded) / 1000:.0f} KB are loaded, compressed; it shows its heading and "
        "reacts after "
        f"{statistics.median(soon):.0f} ms (target: 60 KB, 1000 ms)"
    )


def every_page(chromium: Browser, running: Server) -> None:
    """Layout shift and weight of each page, with a match of each game on the server."""
    arena = BrowserArena(running.url)
    matches = [played(arena, game) for game in CATALOGUE]
    paths = [
        *PATHS, *(f"/games/{game}" for game in CATALOGUE), *(f"/matches/{one}" for one in matches),
        "/bots/Ann%20of%20the%20tests", "/play", "/open", "/organise",
    ]  # fmt: skip
    print("page: layout shift, KB loaded (target: 0.1)")
    for path in paths:
        found = [looked(chromium, running.url + path, size) for size in SIZES]
        shown = "; ".join(
            f"{size} {shift:.3f}, {loaded / 1000:.0f} KB"
            for size, (shift, loaded) in zip(SIZES, found, strict=True)
        )
        print(f"  {path}: {shown}")


def looked(chromium: Browser, url: str, size: str) -> tuple[float, int]:
    """The layout shift of a page until nothing has been loaded for a while, and its bytes."""
    width, height = SIZES[size]
    with chromium.new_context(viewport={"width": width, "height": height}) as context:
        page = context.new_page()
        page.add_init_script(SHIFT)
        page.goto(url)
        page.locator("main h1, main [role=alert]").first.wait_for()
        page.wait_for_timeout(SETTLED)
        return page.evaluate("shift"), page.evaluate(LOADED)


SETTLED = 3000
SHIFT = """
  window.shift = 0;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) shift += one.value;
  }).observe({ type: 'layout-shift', buffered: true });
"""
"""Add up all shifts that follow no input of the user."""
LOADED = """() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .filter((one) => !one.name.includes('/api/')).reduce((sum, one) => sum + one.encodedBodySize, 0)"""


def seeking(chromium: Browser, running: Server) -> None:
    with tempfile.TemporaryDirectory() as folder, chromium.new_context() as context:
        file = Path(folder) / "long.jsonl"
        file.write_bytes(long_match())
        page = context.new_page()
        page.goto(f"{running.url}/open")
        page.locator("input[type=file]").set_input_files(file)
        page.get_by_label("Position in the match").wait_for()
        page.wait_for_timeout(3000)  # the charts are drawn last
        last = int(page.get_by_label("Position in the match").get_attribute("max") or 0)
        found = [page.evaluate(SEEK, number * 7919 % last) for number in range(SEEKS)]
    empty = empty_frames(chromium)
    print(
        f"seeking in {last:,} frames of Bomberman: "
        f"{shown(percentiles([one / 1000 for one in found]))} until the second frame "
        f"after it (target: 50 ms); two frames of an empty page take {empty:.0f} ms"
    )


def long_match() -> bytes:
    row = CATALOGUE["bomberman"]
    game = with_options(row.game, {"rounds": STEPS, "closing": 0})
    match = simulate(Match(game, 2, row.terms, 1), [wanderer, wanderer])
    return match_file(match, ["one", "two"])


def wanderer(view: View) -> Raw:
    """Move out of the corner and back, repeatedly."""
    column, last = view["users"][view["you"]]["at"][1], view["width"] - 1
    return {"action": "MOVE_RIGHT" if column in (0, last - 1) else "MOVE_LEFT"}


def empty_frames(chromium: Browser) -> float:
    with chromium.new_context() as context:
        page = context.new_page()
        return 2000 / rate(page)


def live_boards(chromium: Browser, running: Server) -> None:
    passwords = [running.register(f"bee {number}", "BUMBLEBOTS") for number in (0, 1)]
    playing = start("bench.bots", "bumblebots", running.url, *passwords, 2 * BOARDS, 0, 600)
    time.sleep(3)
    with chromium.new_context(viewport={"width": 1280, "height": 2400}) as context:
        page = context.new_page()
        page.add_init_script(WATCH)
        page.goto(running.url)
        page.locator(".live-board").nth(BOARDS - 1).wait_for()
        page.wait_for_timeout(1000)
        page.evaluate("() => { steps.length = 0 }")
        before = rate(page)
        steps: list[float] = page.evaluate("() => steps")
        boards = page.locator(".live-board").count()
    with chromium.new_context() as context:
        empty = rate(context.new_page())
    print(
        f"{boards} live boards on the front page: {before:.0f} frames per second; an empty page "
        f"has {empty:.0f} "
        f"with the same bots (target: 60 if the machine can)"
    )
    print(
        f"a live step is on screen {shown(percentiles([one / 1000 for one in steps]))} after its "
        "message (target: 100 ms)"
    )
    stop(playing)


def rate(page: Page) -> float:
    times: list[float] = page.evaluate(COUNT, SECONDS)
    return (len(times) - 1) / (times[-1] - times[0]) * 1000


if __name__ == "__main__":
    main()
