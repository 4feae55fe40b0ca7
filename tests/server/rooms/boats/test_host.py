"""Hosting boat games from afar: the host's connection, and all that a host can have done."""

from pathlib import Path
from typing import Any

import pytest

from botdrome.app import RunningServer
from botdrome.server.rooms.boat_settings import BoatRoomSettings, BoatsSection
from tests.patience import until
from tests.server.clients import client
from tests.server.rooms.boats.clients import (
    BOARD,
    boat_server,
    host,
    line,
    order,
    sailor,
    sailors,
    the_room,
)

pytestmark = pytest.mark.anyio

WAITING = BoatRoomSettings(max=3, auto_start=False)
EMPTY = "." * 100


@pytest.mark.parametrize("token", ["", "guess", None, 7])
async def test_a_host_needs_the_token(shared: RunningServer, token: Any) -> None:
    async with client(shared, "/boats/host") as one:
        await one.send({"token": token})
        assert await one.until_closed() == (
            [{"error": "that is not the token of this server"}],
            1008,
            "that is not the token of this server",
        )


async def test_the_operators_token_lets_a_host_in(tmp_path: Path) -> None:
    async with boat_server(tmp_path, WAITING, boats_host_token="") as house:
        async with host(house, token=house.new_operator_token) as one:
            await one.send({"do": "clear"})
            assert (await one.receive())["room"]["title"] == "Botdrome"
            assert await one.receive() == {"done": "the blacklist is empty"}
        async with host(house, token="") as one:
            assert (await one.until_closed())[0] == [
                {"error": "that is not the token of this server"}
            ]


async def test_a_room_is_chosen_by_its_title(tmp_path: Path) -> None:
    async with boat_server(tmp_path, WAITING, BoatRoomSettings(title="Other")) as house:
        async with host(house) as one, host(house, "Other") as two:
            assert (await one.receive())["room"]["title"] == "Botdrome"
            assert (await two.receive())["room"]["title"] == "Other"
        for nowhere in ("Nowhere", 7):
            async with client(house, "/boats/host") as one:
                await one.send(
                    {"token": house.settings.of(BoatsSection).host_token, "room": nowhere}
                )
                assert (await one.receive())[
                    "error"
                ] == "there is no room of that title; there is Botdrome, Other"


async def test_the_room_is_shown_whenever_it_changes(tmp_path: Path) -> None:
    async with boat_server(tmp_path, WAITING) as house, host(house) as one:
        empty = (await one.receive())["room"]
        assert (empty["gathering"], empty["games"], empty["over"], empty["goal"]) == (
            [],
            [],
            False,
            17,
        )
        async with sailor(house, "ann"), sailor(house, "bob"):
            while len((shown := (await one.receive())["room"])["gathering"]) < 2:
                pass
            assert shown["gathering"] == [
                {"name": "ann", "address": "127.0.0.1"},
                {"name": "bob", "address": "127.0.0.1"},
            ]
            assert (await order(one, do="start"))["done"].startswith("started: ")
            while not (shown := (await one.receive())["room"])["games"]:
                pass
            (game,) = shown["games"]
            assert (game["number"], game["squares"], len(game["players"])) == (1, 17, 2)
            row = game["players"][0]
            assert row | {"name": "", "toMove": True} == {
                "name": "", "address": "127.0.0.1", "status": "", "toMove": True, "score": 0,
                "skips": 0, "turns": 0, "hits": 0,
            }  # fmt: skip


async def test_a_host_sees_each_move_of_a_game_that_began_after_it_came(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path) as house,
        host(house) as one,
        sailors(house, "ann", "bob") as (ann, bob),
    ):
        for number, (player, shot) in enumerate(((ann, "S|bob|1|1"), (bob, "S|ann|1|1"))):
            player.send(shot)
            while not turns_of(number, await one.receive()):
                pass  # the room was shown before the shot


async def test_a_game_tells_its_room_of_moves_only_while_a_host_watches(tmp_path: Path) -> None:
    async with boat_server(tmp_path) as house, sailors(house, "ann", "bob") as (ann, _):
        (game,) = the_room(house).games
        subscribers = game.table._subscribers
        before = len(subscribers.changed)
        async with host(house) as one, host(house) as two:
            await one.receive()
            await two.receive()
            assert len(subscribers.changed) == before + 1
            ann.send("S|bob|1|1")
            for each in (one, two):
                while not turns_of(0, await each.receive()):
                    pass
        await until(lambda: len(subscribers.changed) == before)


def turns_of(player: int, shown: Any) -> int:
    games = shown["room"]["games"]
    return int(games[0]["players"][player]["turns"]) if games else 0


async def test_a_host_starts_the_game(tmp_path: Path) -> None:
    async with boat_server(tmp_path, WAITING) as house, host(house) as one:
        assert await order(one, do="start") == {"error": "0 have joined; a game is for 2 to 3"}
        async with sailor(house, "ann") as ann, sailor(house, "bob") as bob:
            assert "done" in await order(one, do="start")
            assert (await ann.until("N|"))[-1] == (await bob.until("N|"))[-1]
            async with line(house) as late:
                assert "|N|2|3|0|" in await late.receive()


async def test_a_host_speaks_to_all_or_to_one(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, WAITING) as house,
        host(house) as one,
        sailor(house, "ann") as ann,
        sailor(house, "bob") as bob,
    ):
        assert await order(one, do="message", text="hello | all\nof you") == {"done": "said to all"}
        assert await order(one, do="message", to="BO", text="just you") == {"done": "said to bob"}
        await ann.expect("J|bob", "M||hello / all of you|All")
        await bob.expect("J|ann", "M||hello / all of you|All", "M||just you")
        assert await order(one, do="message", text=" ") == {"error": "there is no text"}
        assert await order(one, do="message", to="carl", text="x") == {
            "error": "there is no player 'carl'"
        }


async def test_who_is_booted_may_come_back(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, WAITING) as house,
        host(house) as one,
        sailor(house, "ann") as ann,
    ):
        async with sailor(house, "bob") as bob:
            assert await order(one, do="boot", player="2") == {"done": "bob is booted"}
            assert await bob.rest() == ["J|ann", "booted"]
        await ann.expect("J|bob", "L|bob|booted")
        async with sailor(house, "bob"):
            await ann.expect("J|bob")


async def test_who_is_booted_from_a_game_keeps_its_seat(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path) as house,
        sailors(house, "ann", "bob") as (ann, bob),
        host(house) as one,
    ):
        assert await order(one, do="boot", player="bob") == {"done": "bob is booted"}
        assert await bob.rest() == ["booted"]
        await ann.expect(f"B|bob|booted|{EMPTY}|0|0")
        assert "error" in await order(one, do="boot", player="bob")
        async with line(house) as again:
            await again.receive()
            again.send("J|bob")
            await again.expect("J|bob")


async def test_a_name_on_the_blacklist_stays_out_until_the_list_is_cleared(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, WAITING) as house,
        host(house) as one,
        sailor(house, "bob") as bob,
    ):
        assert await order(one, do="blacklist player", player="bob") == {
            "done": "bob is on the blacklist"
        }
        assert await bob.rest() == ["booted"]
        async with line(house) as again:
            await again.receive()
            again.send(f"J|bob|{BOARD}")
            assert await again.rest() == ["booted"]
        async with sailor(house, "Bob"):
            pass
        assert await order(one, do="clear") == {"done": "the blacklist is empty"}
        async with sailor(house, "bob"):
            assert await order(one, do="blacklist player", player="") == {
                "error": "there is no name"
            }


@pytest.mark.parametrize("name", ["Jos\xe9", "x  y", "ann\xa0"])
async def test_a_host_calls_players_as_it_reads_their_names(tmp_path: Path, name: str) -> None:
    async with boat_server(tmp_path, WAITING) as house, host(house) as one:
        async with sailor(house, name) as first:
            assert await order(one, do="message", to=name, text="hello") == {
                "done": f"said to {name}"
            }
            await first.expect("M||hello")
            assert await order(one, do="boot", player=name) == {"done": f"{name} is booted"}
            assert await first.rest() == ["booted"]
        async with sailor(house, name) as second:
            assert await order(one, do="blacklist player", player=name) == {
                "done": f"{name} is on the blacklist"
            }
            assert await second.rest() == ["booted"]
        async with line(house) as third:
            await third.receive()
            third.send(f"J|{name}|{BOARD}")
            assert await third.rest() == ["booted"]


async def test_an_address_on_the_blacklist_hears_nothing(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, WAITING) as house,
        host(house) as one,
        sailor(house, "ann") as ann,
        sailor(house, "bob") as bob,
        line(house) as asks,
        line(house) as joins,
    ):
        await asks.receive()
        await joins.receive()
        assert await order(one, do="blacklist address", address="127.0.0.1") == {
            "done": "127.0.0.1 is on the blacklist"
        }
        assert "booted" in await ann.rest()
        assert "booted" in await bob.rest()
        asks.send("G")
        assert await asks.rest() == []
        joins.send(f"J|carl|{BOARD}")
        assert await joins.rest() == ["booted"]
        async with line(house) as again:
            assert await again.rest() == []
        assert "error" in await order(one, do="blacklist address", address="")
        for nonsense in ("nonsense", "localhost", "127.0.0.0/8", "1.2.3"):
            assert (
                "is not an address"
                in (await order(one, do="blacklist address", address=nonsense))["error"]
            )
        assert the_room(house).banned_addresses == {"127.0.0.1"}
        await order(one, do="clear")
        async with sailor(house, "ann"):
            pass


async def test_a_turn_is_skipped_with_a_reason(tmp_path: Path) -> None:
    async with boat_server(tmp_path) as house, host(house) as one:
        assert await order(one, do="skip", reason="slow") == {"error": "no game runs"}
        async with sailors(house, "ann", "bob") as (_ann, bob):
            assert await order(one, do="skip") == {"error": "a skip has a reason"}
            assert await order(one, do="skip", reason="too | slow") == {
                "done": "the turn of ann is skipped"
            }
            await bob.expect("K|ann|too / slow", "N|bob")
            bob.send("S|ann|1|1")
            assert (await bob.receive()).endswith("|0|1"), "the skip counts"


async def test_one_of_several_games_is_named_by_its_number(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path) as house,
        host(house) as one,
        sailors(house, "ann", "bob") as (ann, _),
        sailors(house, "carl", "dora") as (carl, _),
    ):
        assert await order(one, do="abort") == {"error": "which game? #1, #2"}
        assert "error" in await order(one, do="abort", game=3)
        assert "error" in await order(one, do="abort", game="2")
        assert await order(one, do="abort", game=2) == {"done": "aborted"}
        assert await carl.rest() == ["F|aborted|0|2", "R|carl|0|0|0|", "R|dora|0|0|0|"]
        assert await order(one, do="skip", reason="only one left") == {
            "done": "the turn of ann is skipped"
        }
        await ann.until("N|bob")


async def test_a_game_keeps_its_number_and_the_next_one_has_it_before_it_starts(
    tmp_path: Path,
) -> None:
    async with (
        boat_server(tmp_path) as house,
        host(house) as one,
        sailors(house, "ann", "bob") as (ann, _),
        sailors(house, "carl", "dora") as (carl, dora),
        sailor(house, "ed") as ed,
    ):
        assert await order(one, do="abort", game=1) == {"done": "aborted"}
        assert (await ann.rest())[0] == "F|aborted|0|2"
        assert await order(one, do="abort", game=1) == {"error": "which game? #2"}
        assert await order(one, do="abort", game=3) == {"error": "which game? #2"}, (
            "it has not started"
        )
        assert await order(one, do="message", game=3, text="soon") == {
            "done": "said to all in that game"
        }
        assert await order(one, do="message", game=2, text="go on") == {
            "done": "said to all in that game"
        }
        assert await order(one, do="message", game=1, text="hello?") == {
            "error": "which game? #2, #3"
        }
        await ed.expect("M||soon|All")
        await dora.expect("M||go on|All")
        await one.send({"do": "show"})
        while not (shown := await one.receive()).get("asked"):
            pass
        assert (shown["room"]["gathers"], [game["number"] for game in shown["room"]["games"]]) == (
            3,
            [2],
        )
        assert await order(one, do="skip", game=2, reason="slow") == {
            "done": "the turn of carl is skipped"
        }
        await carl.until("N|dora")


async def test_who_could_be_several_in_as_many_games_is_not_guessed_at(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path) as house,
        host(house) as one,
        sailors(house, "ann", "bob") as (_, bob),
        sailors(house, "anna", "bob") as (_, bobby),
        sailor(house, "bo") as bo,
    ):
        several = "{!r} could be in several games, name one: {}".format
        assert await order(one, do="boot", player="1") == {"error": several("1", "#1, #2, #3")}
        assert await order(one, do="boot", player="bob") == {"error": several("bob", "#1, #2")}
        assert await order(one, do="message", to="an", text="x") == {
            "error": several("an", "#1, #2")
        }
        assert await order(one, do="message", to="ann", text="x") == {"done": "said to ann"}, (
            "a whole name is one alone"
        )
        assert await order(one, do="message", to="bo", text="you") == {"done": "said to bo"}
        await bo.expect("M||you")
        assert await order(one, do="boot", game=2, player="2") == {"done": "bob is booted"}
        assert await bobby.rest() == ["booted"]
        assert await order(one, do="message", game=1, to="BO", text="still here") == {
            "done": "said to bob"
        }
        await bob.expect("M||still here")
        assert await order(one, do="boot", game=1, player="anna") == {
            "error": "there is no player 'anna'"
        }


async def test_of_many_games_some_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botdrome.server.rooms.boats.LISTED", 1)
    async with (
        boat_server(tmp_path) as house,
        host(house) as one,
        sailors(house, "ann", "bob"),
        sailors(house, "ann", "bob"),
    ):
        assert await order(one, do="abort") == {"error": "which game? #1 and 1 more"}


async def test_when_the_host_quits_all_are_told(tmp_path: Path) -> None:
    async with boat_server(tmp_path) as house, host(house) as one:
        async with sailors(house, "ann", "bob") as (ann, _), sailor(house, "carl") as carl:
            assert await order(one, do="quit") == {"done": "the room is closed"}
            assert await ann.rest() == ["F|aborted|0|2", "R|ann|0|0|0|", "R|bob|0|0|0|"]
            assert await carl.rest() == ["F|aborted|0|1", "R|carl|0|0|0|"]
            while not (await one.receive())["room"]["over"]:
                pass
            assert await order(one, do="message", game=1, text="anybody?") == {
                "error": "no game runs"
            }
        async with line(house) as late:
            assert (await late.rest())[-1] == "game is full"


@pytest.mark.parametrize("words", [{}, {"do": "dance"}, {"do": 7}, {"do": "boot", "player": 7}])
async def test_an_order_that_makes_no_sense_is_answered(
    shared: RunningServer, words: dict[str, Any]
) -> None:
    async with host(shared) as one:
        assert "error" in await order(one, **words)
        await one.socket.send("no JSON")
        assert await order(one, do="clear") == {"error": "an order is a JSON object"}
        assert await one.receive() == {"done": "the blacklist is empty"}
        assert the_room(shared).gathering is not None
