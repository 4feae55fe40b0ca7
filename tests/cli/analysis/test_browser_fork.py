"""`botdrome fork --browser` over the protocol of its page; tests/browser/test_fork.py has the page
itself.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

from botdrome.bots.house import house_bots, seated
from botdrome.bots.simulate import simulate
from tests.analysis.matches import new_match
from tests.cli.analysis.files import saved
from tests.cli.commands import run
from tests.patience import PATIENCE

COMMAND = ["fork", "match.jsonl", "--step", "2", "human", "house:random", "--browser"]
LOGIN = {
    "gameType": "BOMBERMAN",
    "name": "Ann",
    "guest": True,
    "secret": "a secret of the tests",
    "features": ["frames"],
}


def said(socket: ClientConnection) -> Any:
    return json.loads(socket.recv(PATIENCE))


@contextmanager
def logged_in(url: str, **wish: Any) -> Iterator[ClientConnection]:
    with connect(url, open_timeout=PATIENCE, ping_interval=None) as socket:
        socket.send(json.dumps(LOGIN | wish))
        assert said(socket)["authentication"] == "OK"
        yield socket


def test_a_person_has_one_seat_and_illegal_moves_cost_nothing(tmp_path: Path) -> None:
    match = simulate(
        new_match("bomberman", rounds=5),
        [seated(house_bots("bomberman")["random"], seed) for seed in (1, 2)],
    )
    saved(tmp_path, "match.jsonl", match)
    command = [sys.executable, "-m", "botdrome", *COMMAND, "--json"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        try:
            url = process.stderr.readline().split()[-1].replace("http", "ws").partition("/play")[0]
            with logged_in(url, gameType="GOMOKU") as other:
                assert "only continues a match of bomberman" in said(other)["error"]
            with logged_in(url, match="unknown") as other:
                assert said(other) == {"error": "you have no seat in a running match unknown"}
            with ExitStack() as pages:
                first = pages.enter_context(logged_in(url))
                assert said(first)["snapshot"] and said(first)["event"]["event"] == "began"
                page = pages.enter_context(logged_in(url, match="bomberman-step-2-fork-1"))
                assert "another window" in said(first)["error"]
                assert said(page)["snapshot"] and said(page)["event"] == {
                    "event": "returned",
                    "player": 0,
                }
                page.send('{"move": {"action": "FLY"}}')
                assert said(page)["event"]["event"] == "refused"
                for step in (2, 3, 4):
                    page.send('{"move": {"action": "WAIT"}}')
                    while (message := said(page)).get("event", {}).get("step") != step:
                        assert "error" not in message, message
                *_, last = map(json.loads, page)
                assert last["event"]["event"] == "ended"
            process.send_signal(signal.SIGINT)
            told = json.loads(process.communicate(timeout=PATIENCE)[0])
        finally:
            process.kill()
    assert (process.returncode, [row["steps"] for row in told["continuations"]]) == (0, [5])


@pytest.mark.parametrize("players", [["house:random", "house:random"], ["human", "human"]])
def test_one_person_plays_in_the_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, players: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    saved(tmp_path)
    result = run("fork", "lost.jsonl", "--step", "3", *players, "--browser")
    assert (result.exit_code, result.stdout) == (2, "")
    assert (
        f"--browser needs exactly one player `human`, not {players.count('human')}" in result.stderr
    )
