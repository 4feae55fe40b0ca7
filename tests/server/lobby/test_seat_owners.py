"""A seat belongs to the bot or guest that took it, not to a bot that registers the name later."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from botdrome.app import RunningServer
from botdrome.server.lobby.clients import NOBODY, bot_owner, guest_owner, is_bots, is_guests
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from botdrome.store.entries import MatchEntry
from tests.server.battlebot.people import person, play_out, seated
from tests.server.clients import bot, client, registered, server
from tests.server.rooms.boats.clients import BOARD, Line, boat_server, line, sailor
from tests.server.rooms.bomber.clients import STEPS, room
from tests.server.rooms.duel.clients import FIND, FREE, arena, connected, free, pair, play_rows
from tests.store.entries import a_bot

pytestmark = pytest.mark.anyio

OK = {"status": "ok"}
WAITS = BoatRoomSettings(absence=100)


async def log_of(house: RunningServer, match_id: str, seat: int, token: str) -> int:
    url = f"{house.url}/api/v1/matches/{match_id}/seats/{seat}/log"
    async with httpx.AsyncClient(trust_env=False) as web:
        return (await web.get(url, headers={"Authorization": f"Bearer {token}"})).status_code


# Owners.


def test_a_guest_may_show_any_of_its_secrets() -> None:
    owner = guest_owner("id", None, "", "password")
    assert is_guests(owner, "id") and is_guests(owner, "password")
    assert not any(is_guests(owner, wrong) for wrong in ("", "other", owner, owner.split()[1]))
    assert "password" not in owner and owner != guest_owner("id", "password")
    assert guest_owner(None, "") == NOBODY and not is_guests(NOBODY, "")


def test_a_bot_owns_what_it_played_and_not_what_its_name_played() -> None:
    first, second = a_bot("ann", 100), a_bot("ann", 200)
    entry = MatchEntry("m", "gomoku", ("ann", "bob"), 300, owners=(bot_owner(first), NOBODY))
    assert (
        is_bots(entry, 0, first) and not is_bots(entry, 0, second) and not is_bots(entry, 1, first)
    )
    assert not is_guests(entry.owners[0], "100")


@pytest.mark.parametrize(("registered_at", "owns"), [(99, True), (100, True), (101, False)])
def test_in_an_old_store_a_bot_owns_what_it_played_since_it_registered(
    registered_at: int, owns: bool
) -> None:
    entry = MatchEntry("m", "gomoku", ("ann", "bob"), 100)
    assert is_bots(entry, 0, a_bot("ann", registered_at)) is owns
    assert not is_bots(entry, 1, a_bot("ann", registered_at))


# Boats.


@asynccontextmanager
async def stolen_name(
    folder: Path, *secret: str
) -> AsyncIterator[tuple[RunningServer, Line, dict[str, Any]]]:
    """A guest's running game after the guest left and another client registered the name and knows
    the match.
    """
    async with boat_server(folder, WAITS) as house, sailor(house, "bob") as bob:
        async with sailor(house, "ann", *secret):
            await bob.until("N|")
            thief = await registered(house, "ann", "battleship")
        await bob.until("B|ann|disconnected|")
        (live,) = house.desk.tables.live()
        yield house, bob, thief | {"match": live.id}


@pytest.mark.parametrize("secret", [("my secret",), ()])
async def test_a_name_that_is_registered_later_opens_no_boat_seat(
    tmp_path: Path, secret: tuple[str, ...]
) -> None:
    async with stolen_name(tmp_path, *secret) as (house, bob, thief):
        match_id = thief["match"]
        async with bot(house, thief) as native:
            assert (await native.until_closed())[0] == [
                {"error": f"you have no seat in a running match {match_id}"}
            ]
        async with line(house) as one:
            await one.receive()
            one.send(f"J|ann||{thief['password']}")
            assert (await one.receive()).startswith("E|name in use")
        async with line(house) as owner:
            await owner.receive()
            owner.send("|".join(("J", "ann", "", *secret)))
            await owner.expect("J|ann", f"Y|{BOARD}")
            await bob.until("M||ann reconnected")
        for table in list(house.desk.tables._tables.values()):
            table.conclude()
        await bob.rest()
        entry = await house.arena.store.match(match_id)
        assert entry is not None
        seat = entry.players.index("ann")
        assert await log_of(house, match_id, seat, thief["password"]) == 403
        for shown in secret:
            assert await log_of(house, match_id, seat, shown) == 200


async def test_a_guest_whose_name_was_registered_gets_its_seat_and_no_other(tmp_path: Path) -> None:
    async with stolen_name(tmp_path, "my secret") as (house, _, _), line(house) as one:
        await one.receive()
        one.send("J|ann||guess", "J|ann", f"J|ann|{BOARD}")
        for _ in range(3):
            assert (await one.receive()).startswith("E|ann is a registered bot")


# Bomberman.


async def test_a_bot_does_not_get_the_user_of_a_guest_of_its_name(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS + ",rounds=1") as (house, one):
        ann = await one.register("Ann", password="mine")
        token = (await registered(house, "Ann", "bomberman"))["password"]
        answer = await one.ask("POST", json={"user_name": "Ann", "password": token})
        assert (answer.status_code, answer.json()["information"]) == (409, "NAME_TAKEN")
        assert await one.register("Ann", password="mine") == ann
        bob = await one.register("Bob")
        await one.state(after=0)
        assert await one.register("Ann", password="mine") == ann, "a bot that crashed plays on"
        end = await one.round((ann, "WAIT"), (bob, "WAIT"))
        shown = {"mine": 200, ann: 200, token: 403, bob: 403}
        assert {secret: await log_of(house, end["game_id"], 0, secret) for secret in shown} == shown
        answer = await one.ask("POST", json={"user_name": "Ann", "password": "mine"})
        assert answer.status_code in (403, 409), "the game is over"


async def test_a_user_without_a_password_is_known_by_its_address(tmp_path: Path) -> None:
    async with room(tmp_path) as (house, one):
        ann = await one.register("Ann")
        elsewhere = httpx.AsyncHTTPTransport(local_address="127.0.0.2")
        async with httpx.AsyncClient(
            base_url=house.url, trust_env=False, transport=elsewhere
        ) as stranger:
            answer = await stranger.post("/bomber/rest/register/Ann")
        assert (answer.status_code, answer.json()["information"]) == (409, "NAME_TAKEN")
        assert ann not in answer.text
        assert await one.register("Ann") == ann
        async with client(house, "/bomber/rest") as socket:
            await socket.receive()
            await socket.send({"user_name": "Ann"})
            assert (await socket.receive())["user_id"] == ann


# People.


@pytest.mark.parametrize("taken", ["eve", "еve"])
async def test_a_person_comes_back_though_its_name_was_registered(
    tmp_path: Path, taken: str
) -> None:
    """The second name has a Cyrillic letter, so it looks like the person's."""
    async with server(tmp_path) as house:
        async with seated(house) as (_, snapshot, _):
            await registered(house, taken)
        own = person(match=snapshot["match"])
        async with bot(house, own) as eve:
            assert (await eve.receive())["players"] == snapshot["players"]
        for other in (
            own | {"secret": "somebody else's secret"},
            own | {"match": "nosuch"},
            person(),
        ):
            async with client(house) as stranger:
                await stranger.send(other)
                assert "registered bot; choose another name" in (await stranger.receive())["why"]


async def test_a_person_whose_name_was_registered_plays_no_second_match_under_it(
    tmp_path: Path,
) -> None:
    async with (
        server(tmp_path) as house,
        seated(house, features=["frames", "again"]) as (eve, _, began),
    ):
        await play_out(eve, began)
        await eve.send({"again": True})
        assert (await eve.receive())["snapshot"], (
            "the second match begins without another answer to the login"
        )
        await registered(house, "eve")
        await play_out(eve, await eve.receive())
        await eve.send({"again": True})
        (answer,), _, _ = await eve.until_closed()
        assert answer == {
            "authentication": "failed",
            "why": "eve is a registered bot; choose another name",
        }


# Duel arena.


@pytest.mark.parametrize("secret", [{}, {"password": "my secret"}])
async def test_a_running_duel_is_not_taken_over_from_another_address(
    tmp_path: Path, secret: dict[str, str]
) -> None:
    async with arena(tmp_path) as house, pair(house, **secret) as (old, other, asked):
        async with connected(house, "127.0.0.2") as thief:
            await thief.send({"username": old.name})
            how = "under another password" if secret else "from another address"
            (answer,) = await thief.until_closed()
            assert answer["message"] == f"{old.name} plays a match {how}; choose another name"
        await old.answer(asked, 7, 7)
        assert (await other.expect("get_move"))["board"]["_moves"] == [[7, 7]]


async def test_a_password_opens_a_running_duel_from_any_address_but_is_not_guessed(
    tmp_path: Path,
) -> None:
    secret = {"password": "my secret"}
    async with arena(tmp_path) as house, pair(house, **secret) as (old, other, _):
        house.desk.registry.guesses.spent = lambda name: 1.0  # type: ignore[method-assign]
        async with connected(house, "127.0.0.2") as guesser:
            await guesser.send({"username": old.name} | secret)
            assert (await guesser.receive())["status"] == "error", "no guess is left"
        house.desk.registry.guesses.spent = lambda name: 0.0  # type: ignore[method-assign]
        async with connected(house, "127.0.0.2") as new:
            await new.send({"username": old.name} | secret)
            assert [await new.receive() for _ in range(2)] == [
                OK,
                {"event": "starting_game", "against": other.name},
            ]


async def test_a_client_that_only_waits_makes_way_for_one_from_another_address(
    tmp_path: Path,
) -> None:
    async with (
        arena(tmp_path) as house,
        free(house, "ann") as old,
        connected(house, "127.0.0.2") as new,
    ):
        await new.send({"username": "ann"})
        assert [await new.receive() for _ in range(2)] == [OK, FREE]
        assert await old.until_closed() == []


async def test_a_duellist_whose_name_is_registered_plays_its_match_to_the_end(
    tmp_path: Path,
) -> None:
    async with arena(tmp_path) as house, pair(house, "ann", "bob") as (one, two, question):
        token = (await registered(house, "ann", "gomoku"))["password"]
        async with free(house, "ann", password=token) as newcomer:
            await play_rows(one, two, question)
            await play_rows(two, one, await two.expect("get_move"))
            guest, other = (one, two) if one.name == "ann" else (two, one)
            assert await guest.until_closed() == [], "its name is the bot's now"
            assert await other.receive() == FREE
            await newcomer.send(FIND)
            await other.send(FIND)
            await other.expect("starting_game")


async def test_the_secret_of_a_flight_record_is_not_looked_at_when_no_guess_is_left(
    tmp_path: Path,
) -> None:
    async with room(tmp_path, STEPS + ",rounds=1") as (house, one):
        ann, bob = await one.register("Ann", password="mine"), await one.register("Bob")
        await one.state(after=0)
        game_id = (await one.round((ann, "WAIT"), (bob, "WAIT")))["game_id"]
        house.desk.registry.guesses.spent = lambda name: 1.0  # type: ignore[method-assign]
        assert await log_of(house, game_id, 0, "mine") == 429
