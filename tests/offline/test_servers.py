"""The Python client plays on a real server. Its example in the docs runs."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

import botdrome
from botdrome.catalogue import restored
from botdrome.match.record import verify
from tests.docs.pages import blocks
from tests.patience import PATIENCE
from tests.server.clients import deaf_port, server

pytestmark = pytest.mark.anyio
T = TypeVar("T")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def beside(folder: Path, work: Callable[[str], T]) -> T:
    """Do something with the address of a server in a thread, while the server runs here."""
    async with server(folder) as house:
        return await asyncio.to_thread(work, house.url)


def first_free(view: dict[str, Any]) -> Any:
    space = next(
        [row, column] for row in range(3) for column in range(3) if not view["board"][row][column]
    )
    return {"mark": view["marks"][view["you"]], "space": space}


class Failing(botdrome.Bot):
    def move(self, view: dict[str, Any]) -> Any:
        raise ValueError("no idea")


def first_point(view: Any) -> Any:
    y = next(y for y, row in enumerate(view["board"]) if "." in row)
    return {"x": view["board"][y].index("."), "y": y}


async def test_functions_classes_and_entrants_play(tmp_path: Path) -> None:
    def work(url: str) -> list[botdrome.MatchResult]:
        client = botdrome.connect(url)
        token = client.register("noughts-and-crosses", "ada")
        bots: list[Any] = [first_free, Failing, "house:perfect"]
        found = [
            client.play(bot, "noughts-and-crosses", "ada", token, opponent="house:perfect", games=2)
            for bot in bots
        ]
        return [result for results in found for result in results]

    results = await beside(tmp_path, work)
    assert [set(result.players) for result in results] == [{"ada", "house:perfect"}] * 6
    causes = [result.causes[result.players.index("ada")] for result in results]
    assert causes == ["complete"] * 2 + ["resigned"] * 2 + ["complete"] * 2
    assert [result.winner for result in results[4:]] == [None, None]
    for result in results:
        record, game = restored(result.record)
        verify(record, game)
        assert (
            record.result is not None
            and record.result.places == result.places
            and len(result.reasons) == 2
        )


async def test_options_are_those_of_the_game(tmp_path: Path) -> None:
    def work(url: str) -> list[botdrome.MatchResult]:
        client = botdrome.connect(url)
        token = client.register("gomoku", "ada")
        size: dict[str, Any] = {"size": 5, "win_length": 3}
        results = [
            *client.play("house:random", "gomoku", "ada", token, opponent="house:random", **size),
            *client.play(
                first_point, "gomoku", "ada", token, opponent="house:random", version="1.2", **size
            ),
        ]
        (new, *_), (old, *_) = [
            match["seats"]
            for match in httpx.get(
                f"{url}/api/v1/matches", timeout=PATIENCE, trust_env=False
            ).json()["matches"]
        ]
        assert (old["version"], new["version"]) == (botdrome.__version__, "1.2")
        return results

    for result in await beside(tmp_path, work):
        assert restored(result.record)[0].setup.options == {"size": 5, "win_length": 3}


async def test_the_example_of_the_page_runs(tmp_path: Path) -> None:
    (example,) = [code for code in blocks("python-api.md") if "botdrome.connect" in code]
    bot = next(
        code for code in blocks("python-api.md", "python") if "class Center" in code
    ).partition("\n\n\nresults")[0]

    def work(url: str) -> dict[str, Any]:
        names: dict[str, Any] = {"botdrome": botdrome}
        exec(bot + "\n" + example.replace("http://127.0.0.1:3000", url), names)
        return names

    assert (await beside(tmp_path, work))["result"].winner == "center"


async def test_refusals_are_named(tmp_path: Path) -> None:
    def work(url: str) -> None:
        client = botdrome.connect(url)
        with pytest.raises(botdrome.ServerProblem, match="ada"):
            client.play(first_free, "noughts-and-crosses", "ada", "wrong")
        with pytest.raises(botdrome.ServerProblem):
            client.match("0123456789abcdef")
        with pytest.raises(botdrome.BadOption, match="there is no game 'chess'"):
            client.play(first_free, "chess", "ada", "token")
        with pytest.raises(botdrome.BadOption, match="'size'"):
            client.play(first_free, "noughts-and-crosses", "ada", "token", size=4)
        with pytest.raises(botdrome.CannotStart, match="the house has"):
            client.play("house:nobody", "noughts-and-crosses", "ada", "token")

    await beside(tmp_path, work)


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(botdrome.ServerProblem):
        botdrome.connect("ftp://nowhere")
    with deaf_port() as port, pytest.raises(botdrome.ServerProblem, match=str(port)):
        botdrome.connect(f"http://127.0.0.1:{port}").register("gomoku", "ada")
