"""A page in the browser that fails its test by any complaint of the browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page

from tests.browser.arena import BrowserArena
from tests.patience import PATIENCE


@contextmanager
def looking(
    chromium: Browser, arena: BrowserArena, width: int = 1280, height: int = 900, **how: Any
) -> Iterator[Page]:
    """A complaint: an exception, a script that is missing, a broken policy, a dialog.

    Boards do not move unless asked to: drawing that takes long on a busy machine.
    """
    how = {"reduced_motion": "reduce"} | how
    with chromium.new_context(
        base_url=arena.url, viewport={"width": width, "height": height}, **how
    ) as context:
        context.set_default_timeout(PATIENCE * 1000)
        context.set_default_navigation_timeout(PATIENCE * 1000)
        complaints: list[str] = []
        context.on("console", lambda message: _note(message, complaints))
        context.on("weberror", lambda error: complaints.append(str(error.error)))
        context.on("dialog", lambda dialog: _refuse(dialog, complaints))
        yield context.new_page()
        assert complaints == []


def _refuse(dialog: Dialog, complaints: list[str]) -> None:
    complaints.append(f"a dialog: {dialog.message}")
    dialog.dismiss()


def _note(message: ConsoleMessage, complaints: list[str]) -> None:
    """That the server has no such page or match is no fault of the browser."""
    url = str(message.location.get("url"))
    if message.type == "error" and not (
        "Failed to load resource" in message.text and "/static/" not in url
    ):
        complaints.append(f"{message.text} ({url})")
