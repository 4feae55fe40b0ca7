"""Take the pictures of the pages in the docs: real matches on a real server, in a real browser.

docs/page.png is the picture in the README; those in docs/pictures are for docs/pages.md.
"""

import json
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from io import BytesIO
from itertools import combinations
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from tests.browser.arena import BrowserArena, serving
from tests.browser.conftest import FLAGS
from tests.browser.guests import played, seated
from tests.browser.test_every_page import SIZES
from tests.patience import PATIENCE
from tools import browser as browsers
from websockets.sync.client import ClientConnection

from botdrome.bots.house import HOUSE
from botdrome.bots.house import seated as seated_bot
from botdrome.bots.simulate import simulate
from botdrome.catalogue import CATALOGUE
from botdrome.match.match import Match
from botdrome.match.record import match_file

DOCS = Path(__file__).parents[1] / "docs"
NAMES = ("ada", "bob", "cleo", "dan")
SEED, STEP = 3, 121
BRAINS = {
    "noughts-and-crosses": ("perfect", "blocker"),
    "gomoku": ("threat", "random"),
    "battleship": ("gunner", "drifter"),
}
"""The house bots that play for the bots of the pictures, one after the other."""
ROUNDS, CUP = 3, "Autumn Cup"


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder)) as arena,
        sync_playwright() as playwright,
    ):
        chromium = playwright.chromium.launch(executable_path=browsers.find(), args=FLAGS)
        picture_of_a_file(chromium, arena, Path(folder))
        matches = [match for game in BRAINS for match in tournament(arena, game)]
        for game in CATALOGUE.keys() - BRAINS.keys():
            played(arena, game, "Grace Hopper", moves=12)
        (DOCS / "pictures").mkdir(exist_ok=True)
        pictures_of_pages(chromium, arena, matches)
        share = arena.rest.get(f"/pictures/matches/{lost_by(arena, matches, 'gomoku')}")
        (DOCS / "pictures" / "share.png").write_bytes(share.content)
        chromium.close()


def picture_of_a_file(chromium: Browser, arena: BrowserArena, folder: Path) -> None:
    file = folder / "bomberman.jsonl"
    file.write_bytes(example_file())
    with chromium.new_context(viewport={"width": 1180, "height": 860}) as context:
        page = context.new_page()
        page.goto(f"{arena.url}/open")
        page.locator("input[type=file]").set_input_files(file)
        bar = page.get_by_label("Position in the match")
        bar.fill(str(STEP))
        bar.blur()
        page.wait_for_timeout(2000)
        page.screenshot(path=DOCS / "page.png")


def example_file() -> bytes:
    row = CATALOGUE["bomberman"]
    bots = [seated_bot(HOUSE[row.name]["sapper"], player) for player in range(len(NAMES))]
    return match_file(simulate(Match(row.game, len(NAMES), row.terms, SEED), bots), NAMES)


def tournament(arena: BrowserArena, game: str) -> list[str]:
    """Each bot against each other; return the matches."""
    tokens = {name: arena.register(game, f"{name} of {game.partition('-')[0]}") for name in NAMES}
    for number, pair in enumerate(list(combinations(NAMES, 2)) * ROUNDS):
        names = {f"{name} of {game.partition('-')[0]}": tokens[name] for name in pair}
        with ExitStack() as stack, ThreadPoolExecutor() as threads:
            wish = {"contest": CUP, "features": ["frames"]}
            sockets = [
                stack.enter_context(arena.login(game, name, token, **wish))
                for name, token in names.items()
            ]
            brains = [
                seated_bot(HOUSE[game][BRAINS[game][NAMES.index(name) % 2]], number)
                for name in pair
            ]
            list(threads.map(answer_all, sockets, brains))
    found = arena.rest.get("/matches", params={"game": game, "contest": CUP}).json()["matches"]
    return [str(match["id"]) for match in found]


def answer_all(socket: ClientConnection, brain: Callable[[dict[str, object]], object]) -> None:
    over = False
    while not over:
        message = json.loads(socket.recv(PATIENCE))
        view = message.get("view", {})
        if "timeLeft" in message and view["you"] in view["toMove"]:
            socket.send(json.dumps({"move": brain(view)}))
        over = message.get("event", {}).get("event") == "ended"


def lost_by(arena: BrowserArena, matches: list[str], game: str) -> str:
    """A match of a game that was won by the rules."""
    for match in matches:
        found = arena.rest.get(f"/matches/{match}").json()
        if found["game"] == game and {seat["cause"] for seat in found["seats"]} == {"complete"}:
            return match
    raise AssertionError(game)


def pictures_of_pages(chromium: Browser, arena: BrowserArena, matches: list[str]) -> None:
    noughts, gomoku = (lost_by(arena, matches, game) for game in ("noughts-and-crosses", "gomoku"))
    arena.rest.post(f"/matches/{gomoku}/evaluation")
    with ExitStack() as stack:
        for game in ("gomoku", "battleship", "bomberman"):
            stack.enter_context(seated(arena, game, "Grace Hopper")).move()
        for name, path, shown in (
            ("front", "/", ".featured .live-picture svg"),
            ("match", f"/matches/{gomoku}", ".evaluation canvas, .evaluation svg"),
            ("continue", f"/matches/{noughts}/continue?step=2", "h1"),
            ("game", "/games/gomoku", ".game-picture svg"),
            ("bot", "/bots/ada%20of%20gomoku", "h1"),
            ("contest", f"/contests/gomoku/{CUP.replace(' ', '%20')}", "h1"),
            ("tv", "/tv", ".tv-board svg"),
        ):
            for size in ("desk", "phone") if name == "front" else ("desk",):
                with opened(chromium, arena.url + path, shown, size) as page:
                    file = DOCS / "pictures" / f"{name}{'-phone' * (size == 'phone')}.png"
                    keep(page.screenshot(full_page=name == "match"), file)


def keep(picture: bytes, file: Path) -> None:
    """With 128 colours, a third of the size."""
    Image.open(BytesIO(picture)).convert("RGB").quantize(128).save(file, optimize=True)


@contextmanager
def opened(chromium: Browser, url: str, shown: str, size: str) -> Iterator[Page]:
    """A page on which the element `shown` is there."""
    width, height = SIZES[size]
    with chromium.new_context(viewport={"width": width, "height": height}) as context:
        page = context.new_page()
        page.goto(url)
        page.locator(shown).first.wait_for()
        page.wait_for_timeout(2000)
        yield page


if __name__ == "__main__":
    main()
