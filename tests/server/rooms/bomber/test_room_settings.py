"""Rooms of the Bomberman API: settings, paths and secrets."""

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from botdrome.server.rooms.bomber_room import BomberSection, read_room_settings
from botdrome.server.settings import BadSetting
from tests.server.clients import PATIENCE, client, server
from tests.server.rooms.bomber.clients import STEPS, Api, api, room, until_waiting
from tests.server.tables.test_trouble import fails

pytestmark = pytest.mark.anyio


# Several rooms.


async def test_rooms_have_their_own_users_rules_and_pace(tmp_path: Path) -> None:
    async with room(tmp_path, f"{STEPS} small:players=2,height=7,width=9,rounds=50") as (_, one):
        small, named = (
            Api(one.client, "/bomber/rooms/small/rest"),
            Api(one.client, "/bomber/rooms/default/rest"),
        )
        ada = await small.register("Ada")
        assert (await one.state())["users"] == []
        assert (await small.state(ada))["map_size"] == [7, 9]
        assert (await one.act(ada, "UP"))["information"] == "UNKNOWN_USER"
        await named.register("Bob")
        assert (await one.state())["users"] == [{"user_name": "Bob"}]
        rules = (await small.ask("GET", "/rules")).json()
        assert (rules["room"]["name"], rules["game"]["height"], rules["game"]["rounds"]) == (
            "small",
            7,
            50,
        )
        listed = (await one.client.get("/bomber/rooms")).json()
        assert [(each["name"], each["phase"], each["users"]) for each in listed] == [
            ("default", "REGISTRATION", ["Bob"]),
            ("small", "REGISTRATION", ["Ada"]),
        ]
        about = (await one.client.get("/bomber/rooms/small")).json()
        assert (about["url"], about["users"], about["rules"]) == (
            listed[1]["url"],
            ["Ada"],
            "/bomber/rooms/small/rest/rules",
        )
        answer = await one.client.get("/bomber/rooms/nowhere/rest/state")
        assert (answer.status_code, answer.json()["information"]) == (404, "UNKNOWN_ROOM")


def test_a_table_for_each_room_says_the_same_as_a_text() -> None:
    tables = ({"name": "a", "players": 2, "early": True, "height": 7}, {"name": "b"})
    assert read_room_settings(tables, True) == read_room_settings(
        "a:players=2,early=1,height=7 b", True
    )
    with pytest.raises(BadSetting, match="has no option 'colour'"):
        read_room_settings(({"colour": "red"},), False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "there is at least one room"),
        ("a a", "each has a name of its own"),
        ("a:players=9", "players"),
        ("a:players=many", "players"),
        ("a:round=0", "round"),
        ("a:least=3,players=2", "least is more than players"),
        ("a:height=6", "height: an odd number"),
        ("a:height=5,width=5,players=8", "too few for"),
        ("a:colour=red", "has no option 'colour'"),
        ("a/b", "a/b"),
    ],
)
def test_a_room_that_cannot_be_is_named(text: str, words: str) -> None:
    with pytest.raises(BadSetting, match=r"bomber\.rooms: ") as caught:
        read_room_settings(text, house=False)
    assert words in str(caught.value)


async def test_a_server_with_a_room_that_cannot_be_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"bomber\.rooms: a: .*players"):
        async with server(tmp_path, bomber_rooms="a:players=9"):
            pass


# Pages.


async def test_the_rules_for_programs_and_for_people(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS + ",flame_pierces=1") as (_, one):
        rules = await one.ask("GET", "/rules", headers={"Accept": "*/*"})
        assert rules.json()["game"]["flame_pierces"] is True
        assert len(rules.json()["resolutions"]) == 50
        page = await one.ask(
            "GET", "/rules", headers={"Accept": "text/html,application/xhtml+xml;q=0.9"}
        )
        assert page.headers["content-type"] == "text/html; charset=UTF-8"
        assert "50. CORS?" in page.text
        assert (await one.ask("GET")).json()["rules"] == "/bomber/rooms/default/rest/rules"
        for path in ("/bomber", "/bomber/"):
            assert (await one.client.get(path)).json()["rooms"] == "/bomber/rooms"


async def test_unknown_paths_and_methods_are_answered_in_json(one: Api) -> None:
    for method, path, status, word in (
        ("GET", "/nowhere", 404, "UNKNOWN_PATH"),
        ("GET", "/register/Ada", 405, "METHOD_NOT_ALLOWED"),
        ("DELETE", "/state", 405, "METHOD_NOT_ALLOWED"),
        ("PUT", "", 405, "METHOD_NOT_ALLOWED"),
        ("POST", "/rules", 405, "METHOD_NOT_ALLOWED"),
        ("GET", "/action/x", 405, "METHOD_NOT_ALLOWED"),
        ("GET", "/state?state=tree", 400, "BAD_FIELD"),
        ("GET", "/state?after=soon", 400, "BAD_FIELD"),
        ("POST", "?action=UP&user_id=x&with_state=maybe", 400, "BAD_FIELD"),
    ):
        answer = await one.ask(method, path)
        assert (answer.status_code, answer.json()["information"]) == (status, word)
        assert ("allow" in answer.headers) == (status == 405)
    head = await one.ask("HEAD", "/state?after=0")
    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["content-length"]) > 100


async def test_the_recorded_registrations_but_for_what_the_spec_changes(tmp_path: Path) -> None:
    lines = [
        json.loads(line)
        for line in (Path("tests/transcripts") / "bomberman-register.jsonl")
        .read_text()
        .splitlines()
    ]
    async with room(tmp_path, STEPS.replace("players=2", "players=8")) as (_, one):
        known: dict[int, str] = {}
        for sent, recorded in zip(lines[1::2], lines[2::2], strict=True):
            content = (sent["body"] or "").encode()
            answer = await one.client.request(sent["method"], sent["path"], content=content)
            told = json.loads(recorded["body"]) if recorded["body"].startswith("{") else None
            if sent["path"].endswith("a%2Fb%20c"):
                assert answer.status_code == 400, "no slashes in names"
            elif sent["method"] == "OPTIONS":
                assert answer.status_code == 204, "a page may ask first"
            elif told is not None:
                assert (answer.status_code, answer.headers["content-type"]) == (
                    200,
                    recorded["headers"]["Content-Type"],
                )
                assert answer.headers["access-control-allow-origin"] == "*"
                assert answer.json().keys() == told.keys()
                assert (
                    known.setdefault(told["user_id"], answer.json()["user_id"])
                    == answer.json()["user_id"]
                )
            elif recorded["status"] == 405:
                assert answer.status_code == 405
            else:
                assert answer.status_code == 200, "both routes are there"
        assert [user["user_name"] for user in (await one.state())["users"]] == [
            "Example_bot_1",
            "Example_bot_2",
            "Example_bot_3",
        ]


# Secrets.


async def test_user_ids_are_nowhere_to_be_seen(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    async with room(tmp_path, STEPS.replace("rest=3600", "rounds=3")) as (house, one):
        ada, bob = await one.begin("Ada", "Bob")
        game = (await one.state())["game_id"]
        seen: list[Any] = []
        async with (
            client(house, f"/watch/{game}") as spectator,
            client(house, "/bomber/rest") as socket,
        ):
            seen += [await spectator.receive(), await socket.receive()]
            for action in ("PLACE_BOMB", "WAIT"):
                await one.act(ada, action, {"with_state": 1})
                await one.act(ada, "JUMP")
                await one.round((bob, "WAIT"))
            seen += [
                await one.state(ada),
                await one.state(),
                (await one.client.get("/bomber/rooms")).json(),
            ]
            await one.round((ada, "WAIT"), (bob, "WAIT"))
            seen += [(await spectator.until_closed())[0], await socket.receive()]
        store = house.arena.store
        seen += [
            await store.record(game),
            await store.flight(game, 0),
            await store.flight(game, 1),
            await store.match(game),
        ]
        logs = [
            record.getMessage()
            for record in caplog.records
            if not record.name.startswith(("httpx", "httpcore", "websockets"))
        ]
        seen += [(await one.client.get(f"/api/v1/matches/{game}")).text, logs, capfd.readouterr()]
    seen += [file.read_bytes() for file in tmp_path.iterdir()]
    assert ada != bob
    for secret in (ada, bob):
        assert secret not in repr(seen)


async def test_whoever_waited_for_the_end_is_told_how_long_it_can_be_read(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS.replace("rest=3600", "rest=3600,rounds=1")) as (house, one):
        ada, bob = await one.begin("Ada", "Bob")
        async with api(house) as other:
            waiting = asyncio.ensure_future(other.state(after=1))
            await until_waiting(house, 1)
            await one.act(ada, "WAIT")
            await one.act(bob, "WAIT")
            told = await asyncio.wait_for(waiting, PATIENCE)
        assert told["phase"] == "FINISHED"
        assert 3_500_000 < told["time_left"] <= 3_600_000
        late = await one.post({"user_name": "Cyd"})
        assert (late["information"], late["detail"][:16]) == (
            "REGISTRATION_CLOSED",
            "the game is over",
        )


# Trouble.


async def test_a_game_whose_result_cannot_be_stored_ends_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with room(tmp_path, STEPS.replace("rest=3600", "rest=0.05,rounds=1")) as (house, one):
        ada, bob = await one.begin("Ada", "Bob")
        monkeypatch.setattr(house.arena.store, "finish", fails)
        await one.act(ada, "WAIT")
        await one.act(bob, "WAIT")
        told = await one.state(after=1)
        if told["phase"] == "FINISHED":
            assert (told["winner"], told["scores"], told["aborted"]) == (None, {}, True)
            told = await one.state(after=told["state_number"])
        assert told["phase"] == "REGISTRATION"


async def test_names_that_cannot_be_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with room(tmp_path) as (house, one):
        monkeypatch.setattr(house.arena.store, "bot_and_alike", fails)
        answer = await one.ask("POST", "/register/Ada")
        assert (answer.status_code, answer.json()["information"]) == (503, "UNAVAILABLE")


async def test_a_server_that_stops_lets_nobody_wait(tmp_path: Path) -> None:
    async with room(tmp_path) as (house, one):
        await one.begin("Ada", "Bob")
        waiting = asyncio.ensure_future(one.state(after=1))
        await until_waiting(house, 1)
        async with api(house) as other:
            closing = asyncio.ensure_future(house.desk.close())
            told = await asyncio.wait_for(waiting, PATIENCE)
            assert (told["phase"], told.get("aborted")) == ("FINISHED", True)
            await closing
            answer = await other.ask("POST", "/register/Cyd")
            assert (answer.status_code, answer.json()["information"]) == (503, "CLOSING")


def test_the_settings_name_the_rooms() -> None:
    assert [plan.name for plan in read_room_settings(BomberSection().rooms, False)] == ["default"]
