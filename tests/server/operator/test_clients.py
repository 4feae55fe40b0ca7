"""The operator lists clients, removes clients, and ends matches."""

from pathlib import Path

import pytest

from tests.server.clients import bot, pair, registered, server, unhurried
from tests.server.operator.clients import TOKEN, office
from tests.server.rooms.boats.clients import boat_server, sailor, sailors
from tests.server.rooms.bomber.clients import STEPS, api
from tests.server.rooms.cube.clients import NOOP, organiser, saying
from tests.server.rooms.cube.clients import bot as cube_bot
from tests.server.rooms.duel.clients import free
from tests.server.rooms.duel.clients import pair as duel

pytestmark = pytest.mark.anyio


async def test_clients_of_all_protocols_are_listed(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, operator_token=TOKEN, duel_port=-1, bomber_rooms=STEPS) as house,
        office(house) as operator,
        pair(house),
        free(house, "dan"),
        sailor(house, "sue"),
        api(house) as bombers,
        cube_bot(saying(NOOP)) as called,
        organiser(house) as one,
    ):
        await bombers.register("kim")
        await one.new_game(("cube", called.url), ("house:random", "house:random"), speed=60_000)
        listed = await operator.clients()
        assert {(client["protocol"], client["name"], client["game"]) for client in listed} >= {
            ("battlebot", "ada", "noughts-and-crosses"),
            ("battlebot", "bob", "noughts-and-crosses"),
            ("duel arena", "dan", "gomoku"),
            ("boats", "sue", "battleship"),
            ("bomberman", "kim", "bomberman"),
            ("battlecube", "cube", "battlecube"),
        }
        by_name = {client["name"]: client for client in listed}
        assert by_name["ada"]["address"] == "127.0.0.1"
        assert by_name["cube"]["address"] == f"127.0.0.1:{called.port}"
        assert (by_name["ada"]["received"], by_name["ada"]["sent"]) == (1, 2)
        assert by_name["ada"]["match"] == by_name["bob"]["match"] is not None
        assert by_name["dan"]["match"] is by_name["sue"]["match"] is None
        assert sum(client["protocol"] == "battlecube organiser" for client in listed) == 1


async def test_clients_are_sorted_searched_and_paged_by_the_server(tmp_path: Path) -> None:
    async with server(tmp_path, operator_token=TOKEN, duel_port=-1) as house, office(house) as one:
        async with free(house, "cid"), free(house, "ann"), free(house, "bea"):
            for query, names in {
                "?sort=name": ["ann", "bea", "cid"],
                "?sort=-name": ["cid", "bea", "ann"],
                "?sort=name&limit=1&offset=1": ["bea"],
                "?search=EA": ["bea"],
                "?sort=answerMs&search=ann": ["ann"],
                "?sort=match&search=cid": ["cid"],
                "": ["cid", "ann", "bea"],
            }.items():
                assert [client["name"] for client in await one.clients(query)] == names
        assert (await one.ask("GET", "/clients?sort=weight")).status_code == 400


async def test_a_bot_is_removed_from_its_match_and_may_come_back(tmp_path: Path) -> None:
    with unhurried("noughts-and-crosses"):
        async with server(tmp_path, operator_token=TOKEN) as house, office(house) as one:
            async with pair(house) as (ada, bob):
                assert await one.have("DELETE", "/clients", {"name": "bob", "reason": "stuck"}) == {
                    "removed": 1
                }
                words = "the operator removed this client: stuck"
                assert (await bob.until_closed())[1:] == (1008, words)
                assert (await ada.until_closed())[0][-1]["state"]["result"]["victor"] == "ada"
            assert await one.audited() == [("remove", "bob", "1 connections: stuck")]
            assert await one.clients() == []
            assert await one.refused("DELETE", "/clients", {"name": "bob"}) == (
                404,
                "there is no such client; it may have left",
            )
            assert await one.refused("DELETE", "/clients", {}) == (400, "say either name or number")


async def test_one_connection_of_several_is_removed_by_its_number(tmp_path: Path) -> None:
    async with server(tmp_path, operator_token=TOKEN) as house, office(house) as one:
        login = await registered(house, "bob") | {"contest": "cup"}
        async with bot(house, login) as first, bot(house, login) as second:
            numbers = [client["number"] for client in await one.clients()]
            await one.have("DELETE", "/clients", {"number": numbers[1]})
            assert (await second.until_closed())[1] == 1008
            assert [client["number"] for client in await one.clients()] == numbers[:1]
            await first.socket.ping()


async def test_removed_clients_of_other_protocols_are_told_in_their_terms(tmp_path: Path) -> None:
    settings = {"operator_token": TOKEN, "duel_port": -1, "bomber_rooms": STEPS}
    words = "the operator removed this client"
    async with (
        boat_server(tmp_path, **settings) as house,
        office(house) as one,
        api(house) as bombers,
    ):
        async with (
            free(house, "dan") as dan,
            sailor(house, "sue") as sue,
            organiser(house) as organises,
        ):
            kim = await bombers.register("kim")
            for client in await one.clients():
                await one.have("DELETE", "/clients", {"number": client["number"]})
            assert await dan.until_closed() == [{"status": "error", "message": words}]
            assert await sue.rest() == [words]
            assert (await bombers.act(kim, "UP"))["information"] == "UNKNOWN_USER"
            await organises.closed()
        assert await one.clients() == []


async def test_a_called_bot_is_put_out_of_its_game(tmp_path: Path) -> None:
    async with (
        server(tmp_path, operator_token=TOKEN) as house,
        office(house) as one,
        cube_bot(saying(NOOP)) as called,
        organiser(house) as organises,
    ):
        await organises.new_game(("A", called.url), ("B", called.url), maxNumOfTicks=1000, speed=10)
        await one.have("DELETE", "/clients", {"name": "A"})
        events = await organises.until("GAME_ENDED")
        assert events[-1][1]["winner"]["name"] == "B"


async def test_a_stuck_match_is_aborted_told_and_stored_as_such(tmp_path: Path) -> None:
    with unhurried("gomoku"), unhurried("noughts-and-crosses"):
        async with (
            server(tmp_path, operator_token=TOKEN, duel_port=-1) as house,
            office(house) as one,
        ):
            async with pair(house) as (ada, _), duel(house, "cid", "dan") as (first, _, _):
                for client in await one.clients("?sort=name"):
                    if client["name"] in ("ada", "cid"):
                        await one.have(
                            "POST", f"/matches/{client['match']}/end", {"reason": "it hangs"}
                        )
                        entry = await house.arena.store.match(client["match"])
                        while entry is not None and entry.status == "running":
                            entry = await house.arena.store.match(client["match"])
                        assert entry is not None
                        assert (entry.status, entry.reason) == (
                            "aborted",
                            "the operator ended it: it hangs",
                        )
                assert (await ada.until_closed())[0][-1]["state"]["result"]["reason"]
                assert (await first.receive())["event"] in (
                    "board_end",
                    "game_end",
                    "player_is_free",
                )
            assert [action for action, _, _ in await one.audited()] == ["end match", "end match"]
            assert await one.refused("POST", "/matches/none/end", {}) == (
                404,
                "no match 'none' runs",
            )


async def test_a_boat_game_that_the_operator_ends_is_aborted(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, operator_token=TOKEN) as house,
        office(house) as one,
        sailors(house, "ann", "bob") as (ann, _),
    ):
        (match,) = {client["match"] for client in await one.clients()}
        await one.have("POST", f"/matches/{match}/end", {})
        assert (await ann.rest())[0] == "F|aborted|0|2"


async def test_how_fast_clients_answer_is_known(tmp_path: Path) -> None:
    with unhurried("noughts-and-crosses"):
        async with (
            server(tmp_path, operator_token=TOKEN, bomber_rooms=STEPS) as house,
            office(house) as one,
            api(house) as bombers,
            pair(house) as (ada, bob),
        ):
            await ada.send({"mark": "X", "space": [0, 0]})
            await bob.receive()
            kim, _ = await bombers.begin("kim", "lou")
            await bombers.act(kim, "UP")
            clients = {client["name"]: client for client in await one.clients()}
            assert clients["ada"]["answerMs"] >= 0
            assert clients["bob"]["answerMs"] is None
            assert clients["kim"]["answerMs"] >= 0
            assert clients["kim"]["received"] == 1
            assert [client["name"] for client in await one.clients("?sort=-answerMs")][-2:] == [
                "bob",
                "lou",
            ]
