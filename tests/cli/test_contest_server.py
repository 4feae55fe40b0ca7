"""`botdrome contest server` against a real server."""

from pathlib import Path

import pytest

from tests.cli.commands import run_beside
from tests.server.clients import deaf_port, server
from tests.server.contests.entrants import entered, play_all

pytestmark = pytest.mark.anyio

CUP = 'name = "cup"\ngame = "noughts-and-crosses"\ngames = 2\n'


async def test_an_operator_runs_a_contest_from_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    file.write_text(CUP)
    async with server(tmp_path) as house:
        house.desk.workers.start()
        options = ("--server", house.url, "--token", house.new_operator_token)
        made = await run_beside("contest", "create", str(file), "--open", *options)
        assert made.exit_code == 0, made.output
        assert "cup: noughts-and-crosses, open, 0 entrants" in made.stdout
        logins = await entered(house, "ada", "bob")
        started = await run_beside("contest", "start", "cup", *options)
        assert (
            "running, 2 entrants" in started.stdout and "it waits for: ada, bob" in started.stdout
        )
        await play_all(house, logins)
        shown = await run_beside("contest", "show", "cup", "--server", house.url)
        assert "over, 2 entrants, 2 of about 2 matches" in shown.stdout and "ada" in shown.stdout
        assert "1500" in shown.stdout and "it waits" not in shown.stdout
        again = await run_beside("contest", "pause", "cup", *options)
        assert again.exit_code == 1 and "the contest 'cup' is over" in again.stderr


async def test_mistakes_are_told_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    file.write_text(CUP)
    without = await run_beside("contest", "create", str(file))
    assert without.exit_code == 2 and "the operator's token is needed" in without.stderr
    with deaf_port() as port:
        words = (
            "contest",
            "start",
            "cup",
            "--server",
            f"http://127.0.0.1:{port}",
            "--token",
            "x",
        )
        assert (await run_beside(*words)).exit_code == 1
