"""The operator signs in: with its token alone, for a while, and from this server's own pages."""

from pathlib import Path
from time import time

import httpx
import pytest

from botdrome.server.lobby.tokens import SESSION, new_token
from tests.server.clients import server
from tests.server.operator.clients import TOKEN, office

pytestmark = pytest.mark.anyio


async def signed_in(client: httpx.AsyncClient, token: str, **headers: str) -> httpx.Response:
    return await client.post("/session", json={"token": token}, headers=headers)


async def test_nothing_is_told_or_done_without_the_token(tmp_path: Path) -> None:
    paths = [
        ("GET", "/session"), ("GET", "/clients"), ("DELETE", "/clients"), ("GET", "/bans"),
        ("POST", "/bans"), ("DELETE", "/bans"), ("POST", "/matches/1/end"), ("GET", "/audit"),
        ("GET", "/cube"), ("POST", "/cube"), ("GET", "/cube/1"), ("PUT", "/cube/1"),
        ("DELETE", "/cube/1"), ("GET", "/boats"), ("POST", "/boats"), ("PUT", "/boats"),
        ("POST", "/boats/orders"), ("GET", "/classes"), ("POST", "/classes"),
        ("GET", "/classes/1"), ("POST", "/classes/1"), ("DELETE", "/classes/1"),
    ]  # fmt: skip
    async with server(tmp_path, operator_token=TOKEN) as house:
        async with office(house, "") as nobody, office(house, "a guess") as guesser:
            for method, path in paths:
                status, words = await nobody.refused(method, path, {})
                assert (status, words) == (
                    401,
                    "sign in with the operator's token, or send Authorization: Bearer TOKEN",
                )
                assert await guesser.refused(method, path, {}) == (
                    401,
                    "that is not the operator's token",
                )
        async with office(house) as operator:
            assert await operator.audited() == []


async def test_a_session_is_a_cookie_that_scripts_cannot_read_and_other_sites_cannot_use(
    tmp_path: Path,
) -> None:
    async with server(tmp_path, operator_token=TOKEN) as house, office(house, "") as one:
        answer = await signed_in(one.client, TOKEN)
        assert answer.json() == {"signedIn": True, "seconds": SESSION}
        _, _, attributes = answer.headers["set-cookie"].partition(";")
        assert {word.strip().lower() for word in attributes.split(";")} == {
            "httponly", f"max-age={SESSION}", "path=/", "samesite=strict",
        }  # fmt: skip
        assert (await one.get("/session"))["signedIn"]
        assert await one.audited() == [("sign in", "", "")]
        foreign = {"Sec-Fetch-Site": "same-site"}
        for method, path in (
            ("POST", "/bans"),
            ("GET", "/clients"),
            ("GET", "/session"),
            ("DELETE", "/session"),
        ):
            assert (
                await one.client.request(method, path, json={}, headers=foreign)
            ).status_code == 403
        assert (await one.get("/session"))["signedIn"]
        evil = {"Origin": "https://evil.example"}
        assert (await one.client.get("/clients", headers=evil)).status_code == 403


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost:5173",
        "http://127.0.0.1:8000",
        "http://[::1]:80",
        "https://pages.example.org",
        "null",
    ],
)
async def test_pages_of_other_origins_cannot_use_a_session_without_sec_fetch_site(
    tmp_path: Path, origin: str
) -> None:
    """Browsers leave that header out where the host is not trusted; other pages may be listed, or
    on this machine.
    """
    settings = {
        "network_origins": "https://pages.example.org",
        "network_public_url": "https://arena.example.org",
    }
    async with (
        server(tmp_path, operator_token=TOKEN, **settings) as house,
        office(house, "") as one,
    ):
        await signed_in(one.client, TOKEN)
        for method, path in (("GET", "/clients"), ("POST", "/bans"), ("DELETE", "/session")):
            answer = await one.client.request(method, path, json={}, headers={"Origin": origin})
            assert answer.status_code == 403, answer.text
        for own in (house.url, "https://arena.example.org"):
            assert (await one.client.get("/clients", headers={"Origin": own})).status_code == 200


async def test_a_page_that_came_by_tls_has_a_cookie_for_tls_alone(tmp_path: Path) -> None:
    async with (
        server(
            tmp_path, operator_token=TOKEN, network_public_url="https://arena.example.org"
        ) as house,
        office(house, "") as one,
    ):
        answer = await signed_in(one.client, TOKEN, Origin="https://arena.example.org")
        assert "Secure" in answer.headers["set-cookie"]


async def test_a_session_ends_when_the_operator_signs_out(tmp_path: Path) -> None:
    async with server(tmp_path, operator_token=TOKEN) as house, office(house, "") as one:
        answer = await signed_in(one.client, TOKEN)
        secret = answer.cookies["botdrome_operator"]
        assert (await one.have("DELETE", "/session"))["signedIn"] is False
        one.client.cookies.set("botdrome_operator", secret)
        assert await one.refused("GET", "/clients") == (401, "the session is over; sign in again")
        await one.have("DELETE", "/session")
        async with office(house) as operator:
            assert await operator.audited() == [("sign in", "", ""), ("sign out", "", "")]


async def test_a_session_ends_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with server(tmp_path, operator_token=TOKEN) as house, office(house, "") as one:
        await signed_in(one.client, TOKEN)
        assert await one.clients() == []
        monkeypatch.setattr("botdrome.server.lobby.tokens.time", lambda: time() + SESSION)
        assert await one.refused("GET", "/clients") == (401, "the session is over; sign in again")
        await signed_in(one.client, TOKEN)
        assert len(await house.arena.store.notes("operator")) == 1  # expired ones are deleted


async def test_a_session_goes_on_after_a_restart_and_its_secret_is_not_stored(
    tmp_path: Path,
) -> None:
    async with server(tmp_path, operator_token=TOKEN) as house, office(house, "") as one:
        secret = (await signed_in(one.client, TOKEN)).cookies["botdrome_operator"]
        assert secret not in str(await house.arena.store.notes("operator"))
    async with server(tmp_path, operator_token=TOKEN) as house, office(house, "") as one:
        one.client.cookies.set("botdrome_operator", secret)
        assert await one.clients() == []
    async with server(tmp_path, operator_token="another") as house, office(house, "") as one:
        one.client.cookies.set("botdrome_operator", secret)
        assert await one.refused("GET", "/clients") == (401, "the session is over; sign in again")


async def test_wrong_tokens_are_limited_for_each_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botdrome.server.lobby.tokens.BURST", 3)
    async with server(tmp_path, operator_token=TOKEN) as house, office(house, "") as one:
        for _ in range(3):
            assert (await signed_in(one.client, "a guess")).status_code == 401
        answer = await signed_in(one.client, TOKEN)
        assert answer.status_code == 429
        assert "too many wrong tokens" in answer.json()["error"]


async def test_only_json_is_read(tmp_path: Path) -> None:
    async with server(tmp_path, operator_token=TOKEN) as house, office(house) as one:
        answer = await one.client.post("/bans", content=b'{"kind": "name", "subject": "bob"}')
        assert answer.status_code == 415
        assert (await one.get("/bans"))["bans"] == []


async def test_the_token_is_made_at_the_first_start_and_known_at_the_next(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        token = house.new_operator_token
        assert token
        assert token not in str(await house.arena.store.notes("operator"))
    async with server(tmp_path) as house:
        assert house.new_operator_token == ""
        async with office(house, token) as one:
            assert await one.clients() == []


async def test_a_new_token_ends_the_old_one_and_its_sessions_at_once(tmp_path: Path) -> None:
    async with server(tmp_path) as house, office(house, "") as one:
        old = house.new_operator_token
        await signed_in(one.client, old)
        new = await new_token(house.arena.store)
        assert (await one.refused("GET", "/clients"))[0] == 401
        async with office(house, old) as before, office(house, new) as after:
            assert (await before.refused("GET", "/clients"))[0] == 401
            assert await after.clients() == []
