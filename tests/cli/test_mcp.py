"""`botdrome mcp`: a client of the MCP SDK plays on a real server through its tools."""

import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from botdrome.catalogue import CATALOGUE
from botdrome.cli.mcp_server import RULES, tool_server
from botdrome.client.kept_tokens import kept_bots
from botdrome.client.rest import RestServer
from tests.cli.commands import run
from tests.client.relay import relay
from tests.server.clients import bot, deaf_port, registered, server

pytestmark = pytest.mark.anyio
NOUGHTS = {"game": "noughts-and-crosses", "opponent": "house:random"}
NAME = "model-noughts-and-crosses"
COMMAND = ["-c", "from botdrome.cli.app import main; main()", "mcp"]


@pytest.fixture(autouse=True)
def _config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


class Model:
    """Calls the tools."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: Any) -> Any:
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        return result.structured_content

    async def error(self, tool: str, **arguments: Any) -> str:
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result.structured_content
        (content,) = result.content
        assert content.type == "text" and "Traceback" not in content.text
        return content.text.removeprefix(f"Error executing tool {tool}: ")

    async def turn(self) -> Any:
        """Wait until it is the model's turn or the match is over, and return all events of that
        time in one observation.
        """
        events = []
        while True:
            seen = await self.call("observe")
            events += seen.get("events", [])
            if seen["status"] in ("your turn", "over"):
                return seen | {"events": events}


@asynccontextmanager
async def model(url: str, name: str = "model") -> AsyncIterator[Model]:
    async with Client(tool_server(RestServer(url), name)) as client:
        yield Model(client)


@asynccontextmanager
async def model_of_a_process(url: str, tmp_path: Path) -> AsyncIterator[Model]:
    environment = {"PYTHONPATH": ":".join(sys.path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    command = StdioServerParameters(
        command=sys.executable, args=[*COMMAND, "--server", url], env=environment
    )
    async with Client(stdio_client(command)) as client:
        yield Model(client)


async def test_a_model_plays_a_whole_game_through_the_tools(tmp_path: Path) -> None:
    async with server(tmp_path) as house, model_of_a_process(house.url, tmp_path) as one:
        tools = {tool.name for tool in (await one.client.list_tools()).tools}
        assert tools == {"games", "join", "observe", "legal_moves", "act", "leave"}
        await one.call("join", **NOUGHTS)
        seen = await one.turn()
        assert seen["players"] == [NAME, "house:random"] and seen["to_move"] == [NAME]
        assert seen["view"]["toMove"] == [seen["view"]["you"]] and 0 < seen["seconds_left"] <= 300
        while seen["status"] == "your turn":
            assert await one.call("act", move=7) == {
                "accepted": False,
                "why": "a move is a JSON object, not 7",
            }
            assert await one.call("act", move={"mark": "X", "space": [0, 9]}) == {
                "accepted": False,
                "why": "a column is from 0 to 2, not 9",
            }
            moves = (await one.call("legal_moves"))["moves"]
            assert len(moves) == sum(row.count("") for row in seen["view"]["board"])
            assert await one.call("act", move=moves[0]) == {"accepted": True}
            seen = await one.turn()
            assert [event["event"] for event in seen["events"]][:3] == [
                "refused",
                "refused",
                "played",
            ]
        assert re.fullmatch(r"(won|lost|drew) at step \d", seen["headline"])
        data = await house.arena.store.match(seen["match"])
        assert data is not None and data.result is not None
        assert seen["result"]["places"] == list(data.result.places)
        assert (await one.call("observe"))["events"] == [], "they were seen before"
        over = f"the match is over: {seen['headline']}; join starts another one"
        assert [await one.error("act", move=7), await one.error("legal_moves")] == [over, over]


async def test_a_model_plays_one_match_at_a_time_and_may_leave_it(tmp_path: Path) -> None:
    async with server(tmp_path) as house, model(house.url) as one:
        none = "you have no match; join starts one"
        assert [await one.error(tool) for tool in ("observe", "legal_moves", "leave")] == [none] * 3
        waiting = await one.call("join", game="noughts-and-crosses", wait=0)
        assert waiting["status"] == "waiting for the match to begin"
        assert await one.error("act", move=7) == "the match has not begun; observe waits for it"
        assert (
            await one.error("join", **NOUGHTS)
            == "you have a match already: end it with act, or give it up with leave"
        )
        assert (await one.call("leave"))["headline"] == "you stopped waiting"
        token = kept_bots()[house.url][NAME].token
        await one.call("join", **NOUGHTS)
        match = (await one.turn())["match"]
        left = await one.call("leave")
        assert (left["status"], left["match"]) == ("over", match)
        await one.call("join", **NOUGHTS)
        assert (await one.turn())["match"] != match
        assert kept_bots()[house.url][NAME].token == token, "it was registered once"


async def test_a_model_waits_for_its_turn_against_a_bot(tmp_path: Path) -> None:
    async with server(tmp_path) as house, model(house.url, "ada") as one:
        login = await registered(house, "bob") | {"pace": "stepped"}
        async with bot(house, login) as bob:
            await one.call("join", game="noughts-and-crosses", opponent="bob")
            seen = await one.call("observe", wait=0)
            assert (seen["status"], seen["to_move"]) == ("not your turn", ["bob"])
            assert await one.error("act", move=7) == "it is not your turn; the match waits for bob"
            assert await one.error("legal_moves") == "it is not your turn; observe waits for it"
            await bob.send({"mark": "X", "space": [1, 1]})
            seen = await one.turn()
            assert (
                seen["view"]["board"][1][1] == "X"
                and seen["your_name"] == "ada-noughts-and-crosses"
            )


async def test_a_model_returns_to_its_match_after_a_lost_connection(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        relay(house.port) as between,
        model(between.url) as one,
    ):
        await one.call("join", **NOUGHTS)
        match = (await one.turn())["match"]
        between.cut()
        notes: list[str] = []
        while f"returned to match {match}" not in notes:
            notes += (await one.call("observe", wait=0))["notes"]
        assert (await one.turn())["match"] == match
        move = (await one.call("legal_moves"))["moves"][0]
        assert await one.call("act", move=move) == {"accepted": True}


async def test_legal_moves_that_cannot_be_listed_come_with_an_example(tmp_path: Path) -> None:
    async with server(tmp_path) as house, model(house.url) as one:
        await one.call("join", game="battlecube", opponent="house:random", options={"edge": 20})
        await one.turn()
        answer = await one.call("legal_moves")
        assert answer["moves"] is None and "more than 1,000" in answer["why"]
        assert await one.call("act", move=answer["example"]) == {"accepted": True}


async def test_bad_input_is_a_tool_error_with_a_reason(tmp_path: Path) -> None:
    async with server(tmp_path) as house, model(house.url, "eve") as one:
        await registered(house, "eve-gomoku", "gomoku")
        for tool in ("games", "join"):
            assert (await one.error(tool, game="chess")).startswith(
                "there is no game 'chess'; there are noughts-and-crosses, "
            )
        wrong = (
            "pace: Input should be 'stepped', 'slow' or 'usual', not 'fast'; wait: Input "
            "should be less than or equal to 55"
        )
        assert await one.error("join", game="gomoku", pace="fast", wait=99) == f"{wrong}, not 99"
        assert await one.error("act") == "move is missing"
        assert "size" in await one.error("join", game="gomoku", options={"size": 1})
        taken = (
            "Bot already registered with that name (eve-gomoku); start `botdrome mcp` with "
            "another --name"
        )
        assert await one.error("join", game="gomoku") == taken
        unknown = await one.error("join", game="noughts-and-crosses", opponent="house:kasparov")
        assert unknown == "there is no bot house:kasparov for noughts-and-crosses"
        assert "less than or equal to 55" in await one.error("observe", wait=99)


async def test_a_server_that_is_not_there_is_a_tool_error() -> None:
    with deaf_port() as port:
        async with model(f"http://127.0.0.1:{port}") as one:
            assert (await one.error("join", **NOUGHTS)).startswith(f"http://127.0.0.1:{port}: ")


async def test_the_games_are_described() -> None:
    assert set(RULES) == set(CATALOGUE)
    async with model("http://127.0.0.1:1") as one:
        listed = (await one.call("games"))["games"]
        assert [game["game"] for game in listed] == list(CATALOGUE)
        for name in CATALOGUE:
            game = await one.call("games", game=name)
            assert game["rules"] == RULES[name] and "house:random" in game["house_bots"]
            assert all(example["view"] and example["move"] for example in game["examples"])
        assert game["options"][0] == {
            "name": "height",
            "default": 13,
            "meaning": "rows of the map, an odd number",
        }


def test_a_bad_address_is_refused() -> None:
    result = run("mcp", "--server", "ftp://x")
    assert result.exit_code == 2
    assert result.stderr.startswith("botdrome: ftp://x is not the address of a server")


def test_without_the_extra_the_command_says_what_to_install() -> None:
    code = "import sys; sys.modules['mcp'] = None; from botdrome.cli.app import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "mcp"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        done.stderr.strip()
        == "botdrome: `botdrome mcp` needs the MCP SDK: pip install 'botdrome[mcp]'"
    )


def test_ctrl_c_ends_the_command_while_its_input_is_open() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, *COMMAND], stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        assert (
            process.stdin is not None and process.stdout is not None and process.stderr is not None
        )
        process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        process.stdin.flush()
        assert process.stdout.readline(), "it has started"
        process.send_signal(signal.SIGINT)
        assert process.wait() == -signal.SIGINT
        assert process.stderr.read() == b""
