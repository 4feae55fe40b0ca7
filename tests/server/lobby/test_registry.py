"""The right to play under a name."""

from pathlib import Path

import httpx
import pytest

from botdrome.server.lobby.registry import Admission, Denied
from botdrome.store.entries import hashed
from botdrome.wire.conversation import TokenNeeded
from tests.server.clients import registered, server

pytestmark = pytest.mark.anyio


async def test_a_name_is_its_bots_and_any_other_is_free(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        token = (await registered(house, "ada", "gomoku"))["password"]
        admit = house.desk.registry.admit
        ada = await admit("ada", token, "gomoku")
        assert ada.bot is not None and ada.bot.name == ada.name == "ada"
        assert await admit("bob", None, "gomoku") == Admission("bob")
        assert await admit("bob", {"any": "thing"}, "gomoku") == Admission("bob")


@pytest.mark.parametrize(
    ("name", "token", "game", "words"),
    [
        ("ada", None, "gomoku", "ada is a registered bot: its token is needed"),
        ("ada", "wrong", "gomoku", "ada is a registered bot: its token is needed"),
        ("ada", {}, "gomoku", "ada is a registered bot: its token is needed"),
        ("ada", "right", "battleship", "ada is registered for gomoku"),
        ("house:perfect", None, "gomoku", "names that begin with house: are those of house bots"),
        ("", None, "gomoku", "a name must not be empty"),
    ],
)
async def test_who_is_denied_is_told_why(
    tmp_path: Path, name: str, token: object, game: str, words: str
) -> None:
    async with server(tmp_path) as house:
        right = (await registered(house, "ada", "gomoku"))["password"]
        with pytest.raises(Denied, match=f"^{words}$"):
            await house.desk.registry.admit(name, right if token == "right" else token, game)


@pytest.mark.parametrize("token", [None, ""])
@pytest.mark.parametrize(
    ("needed", "game"),
    [("in its game", "battleship"), ("never", "battleship"), ("never", "gomoku")],
)
async def test_where_no_token_is_needed_a_guest_has_a_name_of_its_own(
    tmp_path: Path, token: object, needed: TokenNeeded, game: str
) -> None:
    async with server(tmp_path) as house:
        await registered(house, "ada", "gomoku")
        admit = house.desk.registry.admit
        assert await admit("ada", token, game, needed) == Admission("ada (guest)")
        assert await admit("ada (guest)", token, game, needed) == Admission(
            "ada (guest) (guest)"
        ), "or it could be that one's"
        wrong: object
        for wrong in ("wrong", {}, 7):
            with pytest.raises(Denied, match="its token is needed"):
                await admit("ada", wrong, game, needed)
        with pytest.raises(Denied, match="its token is needed"):
            await admit("ada", token, game, "always")


async def test_a_token_that_another_server_has_changed_is_the_token(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        old = (await registered(house, "ada", "gomoku"))["password"]
        admit = house.desk.registry.admit
        await admit("ada", old, "gomoku")
        await house.desk.store.change_token("ada", hashed("new"))
        ada = await admit("ada", "new", "gomoku")
        assert ada.bot is not None and ada.bot.name == ada.name == "ada"
        with pytest.raises(Denied, match="its token is needed"):
            await admit("ada", old, "gomoku")


async def test_bots_are_registered_only_so_fast(tmp_path: Path) -> None:
    words = "too many bots are being registered from your address: try again in"
    async with (
        server(tmp_path, registration_rate=0.001, registration_burst=2) as house,
        httpx.AsyncClient(base_url=house.url) as http,
    ):
        bots = [{"game": "gomoku", "name": f"bot {number}", "owner": "me"} for number in range(3)]
        answers = [await http.post("/api/v1/bots", json=bot) for bot in bots]
        query = 'mutation { registerBot(gameType: GOMOKU, name: "late", owner: "me") { password } }'
        refused = (await http.post("/graphql", json={"query": query})).json()
        async with httpx.AsyncClient(
            base_url=house.url, transport=httpx.AsyncHTTPTransport(local_address="127.0.0.2")
        ) as other:
            assert (await other.post("/api/v1/bots", json=bots[2])).status_code == 201, (
                "another address has its own budget"
            )
    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert answers[2].json()["error"].startswith(words)
    assert refused["errors"][0]["message"].startswith(words)
