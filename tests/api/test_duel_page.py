"""The page of duel arena's results."""

import json
import subprocess
from pathlib import Path

import pytest
from tools.socketio import node

from botdrome.api.pages import STATIC
from botdrome.api.rest.duel import ResultsPage, online_time
from botdrome.server.rooms.duel import DuelLeaderboard, DuelRecord
from botdrome.store.store import open_store
from tests.server.clients import leap
from tests.server.rooms.duel.clients import board_won_by, store_boards

A_SECOND = """
const page = { body: "before", note: "", rings: [], answers: ["after", null, "back"] };
const element = (text) => ({ replaceWith: (other) => { page.body = other.text; }, text });
globalThis.document = {
  getElementById: () => ({ set textContent(words) { page.note = words; } }),
  querySelector: () => element(page.body),
};
globalThis.DOMParser = class { parseFromString(text) { return { querySelector: () => element(text) }; } };
globalThis.setTimeout = (ring, after) => page.rings.push([ring, after]);
globalThis.fetch = async (url) => {
  const text = page.answers.shift();
  if (text === null) throw new Error("no connection");
  return { ok: true, text: async () => `${url} ${text}` };
};
require(process.argv[2]);
(async () => {
  const seen = [];
  while (page.answers.length) {
    const [ring, after] = page.rings.shift();
    await ring();
    seen.push([after, page.body, page.note]);
  }
  console.log(JSON.stringify(seen));
})();
"""


def test_the_page_fetches_the_table_every_second(tmp_path: Path) -> None:
    """And goes on after the server was away."""
    (tmp_path / "browser.js").write_text(A_SECOND)
    command = [node(), str(tmp_path / "browser.js"), str(STATIC / "duel.js")]
    seen = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    assert seen == [
        [1000, "/duel/results_table after", ""],
        [1000, "/duel/results_table after", "The server does not answer."],
        [1000, "/duel/results_table back", ""],
    ]


@pytest.mark.anyio
async def test_all_who_look_at_the_same_time_share_a_page(tmp_path: Path) -> None:
    store = await open_store(f"sqlite:///{tmp_path / 'test.db'}")
    table = DuelLeaderboard(store, {f"player {number:04}": DuelRecord() for number in range(1500)})
    await table.open()
    page = ResultsPage(table)
    first = await page.text()
    assert first.count("<tr>") == 1001
    await store_boards(store, table, "m", 1, [board_won_by(0)])
    assert await page.text() == first
    leap(1.0)
    assert "ada" in await page.text()
    await store.close()


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "00s"),
        (6.9, "06s"),
        (59.99, "59s"),
        (60, "1m00"),
        (187, "3m07"),
        (3599, "59m59"),
        (7500, "2h05"),
        (360000, "100h00"),
    ],
)
def test_online_time(seconds: float, shown: str) -> None:
    assert online_time(seconds) == shown
