"""Rooms of the Bomberman API: who plays with whom, who can look on, and what stays secret."""

import asyncio
import json
import logging
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from botdrome.formats import FORMATS
from botdrome.games.options import with_options
from botdrome.match.record import read, verify
from botdrome.server.bomber.plan import read_plans
from botdrome.server.bomber.settings import BomberSection
from botdrome.server.settings import BadSetting
from tests.server.bombers import STEPS, Api, api, room, until_waiting
from tests.server.clients import PATIENCE, Client, bot, client, registered, server
from tests.server.test_trouble import fails

pytestmark = pytest.mark.anyio
QUICK = "default:players=2,round=20,registration=3600,rest=0.1,rounds=30"


async def poll_and_act(one: Api, user_id: str) -> dict[str, Any]:
    """A bot that waits for each state and sends an action, until the game is over; the last state that it saw of it."""
    told = last = await one.state(user_id, after=0)
    while told["phase"] == "PLAYING":
        await one.act(user_id, "WAIT")
        last, told = told, await one.state(user_id, after=told["state_number"])
    return told if told["phase"] == "FINISHED" else last


async def test_whole_games_at_their_own_pace_one_after_the_other(tmp_path: Path) -> None:
    async with room(tmp_path, QUICK) as (house, one):
        for number in (1, 2):
            users = [await one.register(f"{name} {number}") for name in ("Ada", "Bob")]
            ends = await asyncio.gather(*(poll_and_act(one, user) for user in users))
            assert ends[0]["game_id"] == ends[1]["game_id"]
            assert (await one.state(after=31))["phase"] == "REGISTRATION"
            record = await house.arena.store.record(ends[0]["game_id"])
            assert record is not None
            kept = read(record)
            verify(kept, with_options(FORMATS["bomberman"].game, kept.setup.options))


async def test_a_late_action_counts_for_the_round_that_now_runs(tmp_path: Path) -> None:
    async with room(tmp_path, "default:players=2,round=10,registration=3600") as (_, one):
        ada, _ = await one.begin("Ada", "Bob")
        seen = (await one.state(after=3))["state_number"]
        acted = await one.act(ada, "WAIT")
        assert acted["response"] == "ACCEPTED"
        assert acted["state_number"] >= seen
        late = await one.act(ada, "WAIT", state_number=1)
        assert (late["information"], late["state_number"] > 1) == ("TOO_LATE", True)


# Natives and house bots at the same table.


async def native(house: Any, name: str, players: int, **options: Any) -> dict[str, Any]:
    return await registered(house, name, "bomberman") | {"players": players, "options": options}


async def act_natively(one: Client, message: dict[str, Any]) -> dict[str, Any]:
    while message["state"]["result"] is None:
        with suppress(ConnectionClosed):  # what it has not read yet is still to be had
            await one.send({"action": "WAIT"})
        message = await one.receive()
    return message


async def test_a_native_bot_that_waits_takes_a_seat_and_the_room_starts(tmp_path: Path) -> None:
    rooms = "default:players=2,round=20,registration=3600,rounds=20,rest=3600"
    async with room(tmp_path, rooms) as (house, one), bot(house, await native(house, "nat", 2, rounds=20)) as two:
        ada = await one.register("Ada")
        first = await two.receive()
        assert first["state"]["bots"] == ["Ada", "nat"]
        told, last = await asyncio.gather(poll_and_act(one, ada), act_natively(two, first))
        assert told["scores"] == {"Ada": 0, "nat": 0}
        assert last["state"]["result"]["players"]["Ada"]["score"] == 0
        assert last["state"]["round"] == 20


async def test_a_native_bot_may_say_the_usual_options_or_leave_them_out(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS + ",rounds=9") as (house, one):
        wish = await native(house, "nat", 2, rounds="9", width=13, flame_pierces=False)
        async with bot(house, wish) as two:
            await one.register("Ada")
            assert (await two.receive())["state"]["bots"] == ["Ada", "nat"]


async def test_a_native_bot_that_comes_later_fills_the_room_too(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS) as (house, one):
        ada = await one.register("Ada")
        async with bot(house, await native(house, "nat", 2)) as two:
            assert (await two.receive())["state"]["bots"] == ["Ada", "nat"]
            assert (await one.state(ada, after=0))["users"][1]["user_name"] == "nat"
            await two.send({"action": "PLACE_BOMB"})
            await one.act(ada, "WAIT")
            assert (await one.state(after=1))["users"][1]["bombs_left"] == 0
            await two.socket.close()
            for number in (2, 3):
                await one.act(ada, "WAIT")
                assert (await one.state(after=number))["state_number"] == number + 1, "who is gone is not waited for"


async def test_a_native_bot_that_wants_something_else_is_left_alone(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS + ",rounds=9") as (house, one):
        for wish in (await native(house, "many", 3, rounds=9), await native(house, "long", 2)):
            async with bot(house, wish):
                await one.register("Ada")
                assert (await one.state())["phase"] == "REGISTRATION"


async def test_a_registered_bot_plays_with_its_token_and_can_ask_why(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS + ",rounds=2") as (house, one):
        login = await registered(house, "Ada", "bomberman")
        ada = await one.register("Ada", password=login["password"])
        assert await one.register("Ada", password=login["password"]) == ada
        bob = await one.register("Bob")
        await one.state(after=0)
        await one.act(ada, "PLACE_BOMB")
        assert (await one.act(ada, "PLACE_BOMB", state_number=7))["information"] == "TOO_LATE"
        edge = "MOVE_UP" if (await one.state(ada))["user_position"][0] == 0 else "MOVE_DOWN"
        await one.act(ada, edge)
        await one.round((bob, "WAIT"))
        told = await one.round((ada, "WAIT"), (bob, "WAIT"))
        answer = await one.client.get(
            f"/api/v1/matches/{told['game_id']}/seats/0/log", headers={"Authorization": f"Bearer {login['password']}"}
        )
        lines = [json.loads(line) for line in answer.text.splitlines()]
        came = [(line["message"], line["verdict"].partition(":")[0]) for line in lines if line.get("dir") == "in"]
        assert came == [
            ('{"action":"PLACE_BOMB"}', "accepted"),
            ('{"action":"PLACE_BOMB"}', "not taken"),
            (f'{{"action":"{edge}"}}', "illegal"),
            ('{"action":"WAIT"}', "accepted"),
        ]
        assert [json.loads(line["message"]).get("state_number") for line in lines if line.get("dir") == "out"][:1] == [1]


async def test_house_bots_take_the_free_seats_when_the_time_is_over(tmp_path: Path) -> None:
    async with room(tmp_path, "default:players=3,registration=0.05,round=20,rounds=20,house=1,rest=3600") as (_, one):
        ada = await one.register("Ada")
        told = await poll_and_act(one, ada)
        assert [user["user_name"] for user in told["users"]] == ["Ada", "house:bombardier", "house:bombardier 1"]
        assert told["users"][1]["tiles"] + told["users"][1]["alive"] > 0
    assert read_plans("default", house=True)[0].house, "--house is for the rooms too"


async def test_one_alone_goes_on_waiting(tmp_path: Path) -> None:
    async with room(tmp_path, "default:players=3,registration=0.02,early=1,round=60000") as (_, one):
        ada = await one.register("Ada")
        for _ in range(20):
            told = await one.state(ada)
            assert (told["phase"], [user["user_name"] for user in told["users"]]) == ("REGISTRATION", ["Ada"])
        assert await one.register("Ada") == ada


# Several rooms.


async def test_rooms_have_their_own_users_rules_and_pace(tmp_path: Path) -> None:
    async with room(tmp_path, f"{STEPS} small:players=2,height=7,width=9,rounds=50") as (_, one):
        small, named = Api(one.client, "/bomber/rooms/small/rest"), Api(one.client, "/bomber/rooms/default/rest")
        ada = await small.register("Ada")
        assert (await one.state())["users"] == []
        assert (await small.state(ada))["map_size"] == [7, 9]
        assert (await one.act(ada, "UP"))["information"] == "UNKNOWN_USER"
        await named.register("Bob")
        assert (await one.state())["users"] == [{"user_name": "Bob"}]
        rules = (await small.ask("GET", "/rules")).json()
        assert (rules["room"]["name"], rules["game"]["height"], rules["game"]["rounds"]) == ("small", 7, 50)
        listed = (await one.client.get("/bomber/rooms")).json()
        assert [(each["name"], each["phase"], each["users"]) for each in listed] == [
            ("default", "REGISTRATION", ["Bob"]),
            ("small", "REGISTRATION", ["Ada"]),
        ]
        about = (await one.client.get("/bomber/rooms/small")).json()
        assert (about["url"], about["users"], about["rules"]) == (listed[1]["url"], ["Ada"], "/bomber/rooms/small/rest/rules")
        answer = await one.client.get("/bomber/rooms/nowhere/rest/state")
        assert (answer.status_code, answer.json()["information"]) == (404, "UNKNOWN_ROOM")


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
async def test_a_room_that_cannot_be_is_named(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadSetting, match=r"bomber\.rooms: ") as caught:
        async with server(tmp_path, bomber_rooms=text):
            pass
    assert words in str(caught.value)


# Pages.


async def test_the_rules_for_programs_and_for_people(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS + ",flame_pierces=1") as (_, one):
        rules = await one.ask("GET", "/rules", headers={"Accept": "*/*"})
        assert rules.json()["game"]["flame_pierces"] is True
        assert len(rules.json()["resolutions"]) == 50
        page = await one.ask("GET", "/rules", headers={"Accept": "text/html,application/xhtml+xml;q=0.9"})
        assert page.headers["content-type"] == "text/html; charset=UTF-8"
        assert "50. CORS?" in page.text
        assert (await one.ask("GET")).json()["rules"] == "/bomber/rooms/default/rest/rules"
        for path in ("/bomber", "/bomber/"):
            assert (await one.client.get(path)).json()["rooms"] == "/bomber/rooms"


async def test_unknown_paths_and_methods_are_answered_in_json(tmp_path: Path) -> None:
    async with room(tmp_path) as (_, one):
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
    lines = [json.loads(line) for line in (Path("tests/transcripts") / "bomberman-register.jsonl").read_text().splitlines()]
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
                assert (answer.status_code, answer.headers["content-type"]) == (200, recorded["headers"]["Content-Type"])
                assert answer.headers["access-control-allow-origin"] == "*"
                assert answer.json().keys() == told.keys()
                assert known.setdefault(told["user_id"], answer.json()["user_id"]) == answer.json()["user_id"]
            elif recorded["status"] == 405:
                assert answer.status_code == 405
            else:
                assert answer.status_code == 200, "both routes are there"
        assert [user["user_name"] for user in (await one.state())["users"]] == ["Example_bot_1", "Example_bot_2", "Example_bot_3"]


# Secrets.


async def test_user_ids_are_nowhere_to_be_seen(tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: Any) -> None:
    caplog.set_level(logging.DEBUG)
    async with room(tmp_path, STEPS.replace("rest=3600", "rounds=3")) as (house, one):
        ada, bob = await one.begin("Ada", "Bob")
        game = (await one.state())["game_id"]
        seen: list[Any] = []
        async with client(house, f"/watch/{game}") as spectator, client(house, "/bomber/rest") as socket:
            seen += [await spectator.receive(), await socket.receive()]
            for action in ("PLACE_BOMB", "WAIT"):
                await one.act(ada, action, {"with_state": 1})
                await one.act(ada, "JUMP")
                await one.round((bob, "WAIT"))
            seen += [await one.state(ada), await one.state(), (await one.client.get("/bomber/rooms")).json()]
            await one.round((ada, "WAIT"), (bob, "WAIT"))
            seen += [(await spectator.until_closed())[0], await socket.receive()]
        store = house.arena.store
        seen += [await store.record(game), await store.flight(game, 0), await store.flight(game, 1), await store.match(game)]
        logs = [
            record.getMessage() for record in caplog.records if not record.name.startswith(("httpx", "httpcore", "websockets"))
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
        assert (late["information"], late["detail"][:16]) == ("REGISTRATION_CLOSED", "the game is over")


# Trouble.


async def test_a_game_whose_result_cannot_be_stored_ends_without_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


async def test_names_that_cannot_be_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with room(tmp_path) as (house, one):
        monkeypatch.setattr(house.arena.store, "bot", fails)
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
    assert [plan.name for plan in read_plans(BomberSection().rooms, False)] == ["default"]
