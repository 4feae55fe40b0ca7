"""A page of another site: it may show a match in a frame, and nothing else of ours."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

from playwright.sync_api import Browser, expect

from tests.browser.arena import BrowserArena
from tests.patience import PATIENCE


@contextmanager
def another_site(page: str) -> Iterator[str]:
    """Its address. It answers everything with that page."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Site) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_other_sites_can_embed_a_match_and_nothing_else(
    chromium: Browser, arena: BrowserArena, stored: dict[str, str]
) -> None:
    match, said = stored["gomoku"], list[str]()
    frames = "".join(
        f'<iframe id="{name}" src="{arena.url}/{name}/{match}"></iframe>'
        for name in ("embed", "matches")
    )
    with another_site(frames) as site, chromium.new_context() as context:
        context.set_default_timeout(PATIENCE * 1000)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.goto(site)
        expect(
            page.frame_locator("#embed").get_by_role("slider", name="Position in the match")
        ).to_be_visible()
        expect(page.frame_locator("#matches").locator("main")).to_have_count(0)
    assert any("frame-ancestors" in words for words in said)
