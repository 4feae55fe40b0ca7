"""Wrong tokens are limited for each address, wherever a token is looked at."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx
import pytest

from botdrome.app import RunningServer
from botdrome.server.lobby import tokens as module
from botdrome.server.lobby.tokens import CodeGuesses, Guesses, PasswordGuesses, TooMany
from botdrome.server.nodes.asking import TOLD
from botdrome.server.workers.jobs import set_source
from tests.server.clients import NOTICES, client, registered, server
from tests.server.contests.entrants import open_contest
from tests.server.rooms.boats.clients import BOARD, TOKEN, boat_server, line
from tests.server.rooms.duel.clients import connected

pytestmark = pytest.mark.anyio

FEW = 3


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BURST", FEW)
    for rate in ("RATE", "PASSWORD_RATE", "CONTEST_RATE", "CODE_RATE"):
        monkeypatch.setattr(module, rate, 0.001)
    monkeypatch.setattr(module, "PASSWORD_BURST", FEW)
    for burst in ("CONTEST_BURST", "CODE_BURST"):
        monkeypatch.setattr(module, burst, 2 * FEW)


def guess(guesses: Guesses, address: str, name: str = "ada", right: bool = False) -> bool:
    set_source(address)
    guesses.check(name)
    return guesses.note(name, right)


async def test_an_address_that_was_wrong_too_often_is_not_listened_to() -> None:
    guesses = Guesses()
    for _ in range(FEW):
        assert not guess(guesses, "1.2.3.4")
    with pytest.raises(TooMany, match="too many wrong tokens came from your address: try again in"):
        guess(guesses, "1.2.3.4", "bob", right=True)
    assert guess(guesses, "5.6.7.8", right=True)


async def test_a_known_client_is_not_locked_out_by_its_neighbours_but_keeps_to_limits() -> None:
    guesses = Guesses()
    assert guess(guesses, "1.2.3.4", "ada", right=True)
    for _ in range(FEW):
        guess(guesses, "1.2.3.4", "bob")
    for _ in range(FEW):
        assert not guess(guesses, "1.2.3.4", "ada")
    with pytest.raises(TooMany):
        guess(guesses, "1.2.3.4", "ada")


async def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 5)
    guesses = Guesses()
    for number in range(20):
        guess(guesses, "1.2.3.4", f"bot {number}", right=True)
    assert len(guesses._proven) == 5


Try = Callable[[RunningServer, str], Coroutine[Any, Any, str]]
"""Log in as ada with this token, and return the answer."""


async def over_native(house: RunningServer, token: str) -> str:
    login = {"gameType": "NOUGHTS_AND_CROSSES", "name": "ada", "password": token} | NOTICES
    async with client(house) as one:
        await one.send(login)
        return str(await one.receive())


async def over_rest(house: RunningServer, token: str) -> str:
    async with httpx.AsyncClient(base_url=house.url) as http:
        headers = {"authorization": f"Bearer {token}"}
        answer = await http.put("/api/v1/bots/ada", json={"url": None}, headers=headers)
    return f"{answer.status_code} {answer.text}"


async def over_graphql(house: RunningServer, token: str) -> str:
    async with httpx.AsyncClient(base_url=house.url) as http:
        query = 'mutation { rotateToken(name: "ada") { password } }'
        answer = await http.post(
            "/graphql", json={"query": query}, headers={"authorization": f"Bearer {token}"}
        )
    return answer.text


async def over_connect(house: RunningServer, token: str) -> str:
    async with client(house, "/connect") as one:
        await one.send({"name": "ada", "password": token})
        return str(await one.receive())


@pytest.mark.parametrize("attempt", [over_native, over_rest, over_graphql, over_connect])
async def test_after_too_many_wrong_tokens_the_right_one_is_not_looked_at(
    tmp_path: Path, attempt: Try
) -> None:
    async with server(tmp_path) as house:
        token = (await registered(house, "ada"))["password"]
        for _ in range(FEW):
            assert "too many wrong" not in await attempt(house, "wrong")
        assert "too many wrong tokens came from your address" in await attempt(house, token)


async def over_duel(house: RunningServer, token: str) -> str:
    async with connected(house) as one:
        await one.send({"username": "ada", "password": token})
        return str(await one.receive())


async def over_xbs(house: RunningServer, token: str) -> str:
    async with line(house) as one:
        await one.receive()
        one.send(f"J|ada|{BOARD}|{token}")
        return await one.receive()


async def over_bomberman(house: RunningServer, token: str) -> str:
    async with httpx.AsyncClient(base_url=house.url) as http:
        return (
            await http.post("/bomber/rest/register", json={"user_name": "ada", "password": token})
        ).text


async def over_host(house: RunningServer, token: str) -> str:
    async with client(house, "/boats/host") as one:
        await one.send({"token": TOKEN if token != "wrong" else token})
        return str(await one.receive())


@pytest.mark.parametrize(
    ("attempt", "game"),
    [
        (over_duel, "gomoku"),
        (over_xbs, "battleship"),
        (over_bomberman, "bomberman"),
        (over_host, "gomoku"),
    ],
)
async def test_the_same_goes_for_the_other_protocols(
    tmp_path: Path, attempt: Try, game: str
) -> None:
    async with boat_server(tmp_path, duel_port=-1, boats_host_token=TOKEN) as house:
        token = (await registered(house, "ada", game))["password"]
        for _ in range(FEW):
            assert "too many wrong" not in await attempt(house, "wrong")
        assert "too many wrong tokens came from your address" in await attempt(house, token)


# Passwords of contests.


def guess_password(guesses: PasswordGuesses, address: str, contest: str = "cup") -> None:
    set_source(address)
    guesses.check(contest)
    guesses.note_wrong(contest)


async def test_an_address_has_few_guesses_of_passwords_for_all_contests() -> None:
    guesses = PasswordGuesses()
    for contest in ("cup", "league", "cup"):
        guess_password(guesses, "1.2.3.4", contest)
    with pytest.raises(
        TooMany, match="too many wrong passwords came from your address: try again in"
    ):
        guess_password(guesses, "1.2.3.4", "ladder")
    guess_password(guesses, "5.6.7.8")


async def test_many_addresses_together_have_few_guesses_and_lock_nobody_out() -> None:
    guesses = PasswordGuesses()
    for number in range(2 * FEW):
        guess_password(guesses, f"1.2.3.{number}")
    with pytest.raises(
        TooMany, match="too many wrong passwords came for the contest 'cup': try again in"
    ):
        guess_password(guesses, "1.2.3.0")
    guess_password(guesses, "1.2.3.0", "league")
    set_source("5.6.7.8")
    guesses.check("cup")


async def test_addresses_that_were_wrong_are_remembered_within_bounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 5)
    guesses = PasswordGuesses()
    for number in range(20):
        guess_password(guesses, f"1.2.3.{number}", f"contest {number}")
    assert len(guesses._wrong) == 5


async def test_wrong_join_codes_count_for_their_class_whatever_the_address() -> None:
    guesses = CodeGuesses()
    for _ in range(2 * FEW):
        guess_password(guesses, "1.2.3.4", "7KQ2")
    with pytest.raises(TooMany, match=r"^too many wrong join codes came: try again in [0-9]+ s$"):
        guess_password(guesses, "1.2.3.4", "7KQ2")
    guess_password(guesses, "1.2.3.4", "another class")
    guess_password(guesses, "1.2.3.4", "")
    set_source("5.6.7.8")
    guesses.check("7KQ2")


async def enter_over_rest(http: httpx.AsyncClient, password: str) -> tuple[int, str]:
    answer = await http.post(
        "/api/v1/contests/noughts-and-crosses/cup", json={"bot": "ada", "password": password}
    )
    return answer.status_code, answer.text


async def enter_over_graphql(http: httpx.AsyncClient, password: str) -> tuple[int, str]:
    query = (
        f'mutation {{ enterContest(contest: "cup", bot: "ada", password: "{password}") {{ '
        "name "
        f"}} }}"
    )
    return 429, (await http.post("/graphql", json={"query": query})).text


@pytest.mark.parametrize("enter", [enter_over_rest, enter_over_graphql])
async def test_after_too_many_wrong_passwords_the_right_one_is_not_looked_at(
    tmp_path: Path, enter: Callable[[httpx.AsyncClient, str], Coroutine[Any, Any, tuple[int, str]]]
) -> None:
    async with server(tmp_path) as house:
        await open_contest(house, entry={"kind": "password", "password": "sesame"})
        headers = {"authorization": f"Bearer {(await registered(house, 'ada'))['password']}"}
        async with httpx.AsyncClient(base_url=house.url, headers=headers, trust_env=False) as here:
            for given in ["guess"] * FEW + [""]:
                assert "needs its password" in (await enter(here, given))[1]
            status, text = await enter(here, "sesame")
            assert status == 429 and "too many wrong passwords came from your address" in text
        elsewhere = httpx.AsyncHTTPTransport(local_address="127.0.0.2")
        async with httpx.AsyncClient(
            base_url=house.url, headers=headers, transport=elsewhere
        ) as there:
            assert "error" not in (await enter(there, "sesame"))[1], (
                "another address is not locked out"
            )


def test_another_node_is_told_in_words() -> None:
    assert TOLD["TooMany"] is TooMany
