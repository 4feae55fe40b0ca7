"""Match files from disk, opened in a browser."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from botdrome.match.record import VERSION
from tests.golden.test_golden import NEWEST, file_of

FIELD = "input[type=file]"


@pytest.mark.parametrize("game", NEWEST)
def test_a_match_file_is_opened(page: Page, game: str) -> None:
    page.goto("/open")
    page.locator(FIELD).set_input_files(file_of(game, VERSION))
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{game}.jsonl")
    expect(page.locator(".caption-words")).to_contain_text("The match ends")
    page.keyboard.press("Home")
    expect(page.locator(".caption-step")).to_have_text(re.compile("^0 /"))


def test_a_broken_file_is_named_and_another_can_be_opened(page: Page, tmp_path: Path) -> None:
    whole = file_of("gomoku", VERSION).read_bytes()
    broken = {
        "picture.jsonl": b"\x89PNG\r\n\x1a\n\x00\xff",
        "empty.jsonl": b"",
        "changed.jsonl": whole.replace(b'"x":', b'"z":'),
    }
    page.goto("/open")
    for name, content in broken.items():
        (tmp_path / name).write_bytes(content)
        page.locator(FIELD).set_input_files(tmp_path / name)
        expect(page.get_by_role("alert")).to_contain_text("Choose another file")
    page.locator(FIELD).set_input_files(file_of("gomoku", VERSION))
    expect(page.get_by_role("heading", level=1)).to_have_text("gomoku.jsonl")


def test_a_file_is_dropped_onto_any_page(page: Page) -> None:
    page.goto("/games")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.evaluate(
        """(content) => {
            const data = new DataTransfer();
            data.items.add(new File([content], 'dropped.jsonl'));
            const how = { dataTransfer: data, bubbles: true, cancelable: true };
            for (const type of ['dragenter', 'dragover', 'drop']) document.body.dispatchEvent(new DragEvent(type, how));
        }""",
        file_of("noughts-and-crosses", VERSION).read_text(),
    )
    expect(page.get_by_role("heading", level=1)).to_have_text("dropped.jsonl")
    expect(page.locator(".caption-step")).to_be_visible()
