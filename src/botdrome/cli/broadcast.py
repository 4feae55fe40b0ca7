"""Broadcast: a server inside `botdrome play --open` that shows its matches live."""

import asyncio
import multiprocessing
import os
import sys
import webbrowser
from concurrent.futures import Future
from multiprocessing.queues import Queue
from queue import Empty
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import time
from typing import Self

import structlog
from rich.text import Text

from botdrome.api.pages import NOT_BUILT, WEB
from botdrome.app import open_server
from botdrome.cli.logs import configure_logs
from botdrome.cli.terminal import CommandFailed, note
from botdrome.offline.scenes import MatchMoved, MatchOpened, Scene
from botdrome.protocols import load_settings, protocol_sections
from botdrome.server.settings import BadSetting
from botdrome.server.tables.audience import PlayedElsewhere, Tables
from botdrome.store.entries import MatchEntry
from botdrome.store.store import Store

log = structlog.get_logger()

MOST_WAITING = 1000
"""Scenes in the queue; when it is full, the matches wait."""
A_MOMENT = 0.2
"""Seconds between two checks whether to stop."""


class Broadcast:
    """A server in a thread, with a temporary store. It runs inside `with`."""

    def __init__(self) -> None:
        self.scenes: Queue[Scene] = multiprocessing.get_context("spawn").Queue(MOST_WAITING)
        """The queue of scenes to show."""
        self.url = ""
        self._opened: Future[str] = Future()
        self._stopping = Event()
        self._thread = Thread(
            target=lambda: asyncio.run(self._serve()), name="broadcast", daemon=True
        )

    def __enter__(self) -> Self:
        if not (WEB / "index.html").exists():
            raise CommandFailed(NOT_BUILT.strip())
        self._thread.start()
        try:
            self.url = self._opened.result()
        except BadSetting as problem:
            raise CommandFailed(f"the matches cannot be shown: {problem}") from None
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()

    async def _serve(self) -> None:
        with TemporaryDirectory(prefix="botdrome-") as folder:
            db = f"sqlite:///{folder}/matches.db"
            closed = {f"{name}.port": 0 for name in protocol_sections()}
            tables: list[PlayedElsewhere] = []

            def shown(own: Tables) -> Tables:
                tables.append(PlayedElsewhere(own))
                return tables[0]

            try:
                settings = load_settings(
                    closed | {"port": 0, "db": db, "drain": 0.0, "log.level": "error"}
                )
                configure_logs(settings)
                server = await open_server(settings, shown)
            except BadSetting as problem:
                return self._opened.set_exception(problem)
            self._opened.set_result(server.url)
            await self._show_all(tables[0], server.arena.store)
            await server.close()

    async def _show_all(self, tables: PlayedElsewhere, store: Store) -> None:
        while not self._stopping.is_set():
            scene = await asyncio.to_thread(self._next)
            if scene is not None:
                try:
                    await _show(scene, tables, store)
                except Exception as problem:  # matches go on even if they cannot be shown
                    log.error("a match cannot be shown", match=scene.match, exc_info=problem)

    def _next(self) -> Scene | None:
        try:
            return self.scenes.get(timeout=A_MOMENT)
        except Empty:
            return None


async def _show(scene: Scene, tables: PlayedElsewhere, store: Store) -> None:
    if isinstance(scene, MatchOpened):
        started = int(time() * 1000)
        entry = MatchEntry(
            scene.match, scene.game, scene.players, started, options=scene.options, seed=scene.seed
        )
        tables.begin(entry, scene.limit, store)
    elif isinstance(scene, MatchMoved):
        tables.move(scene.match, scene.t, scene.steps, scene.order, scene.news)
    else:
        await tables.end(scene.match, scene.result, scene.view, scene.record, store)


def open_browser(url: str) -> bool:
    """Open the URL, and return whether there is a browser.

    Browsers in the terminal do not count.
    """
    has_screen = sys.platform == "darwin" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    return has_screen and webbrowser.open(url)


def invite(words: str, url: str) -> None:
    """Name the URL, and open it if there is a browser."""
    note(Text(words).append(url, "cyan"))
    if not open_browser(url):
        note("There is no browser to open here: open that address in one.")
