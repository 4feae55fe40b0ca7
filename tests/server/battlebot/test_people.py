"""People play all six games as guests of the native protocol."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from botdrome.app import RunningServer
from botdrome.bots.house import house_bots
from botdrome.catalogue import CATALOGUE
from botdrome.match.record import read, verify
from botdrome.match.terms import PaceName, paced
from botdrome.server.lobby import url_bots
from botdrome.server.rooms.duel import book_of
from tests.server.battlebot.people import SECRET, events, move, person, play_out, seated
from tests.server.clients import bot, client, registered, server
from tests.server.lobby.url_hosts import url_bot, with_address
from tests.server.rooms.duel.clients import FIND, arena, free

pytestmark = pytest.mark.anyio

SHORT: dict[str, dict[str, Any]] = {
    "noughts-and-crosses": {},
    "gomoku": {"size": 5, "win_length": 3},
    "bumblebots": {"ticks": 4},
    "battleship": {"width": 5, "height": 5, "boats": "A2", "rounds": 4},
    "battlecube": {"ticks": 4},
    "bomberman": {"rounds": 4},
}
"""Options with which a game is over soon."""


@pytest.mark.parametrize("game", CATALOGUE)
async def test_a_person_plays_a_house_bot(game: str, tmp_path: Path) -> None:
    opponent = f"house:{next(iter(house_bots(game)))}"
    async with (
        server(tmp_path) as house,
        bot(house, person(game=game, opponent=opponent, options=SHORT.get(game, {}))) as eve,
    ):
        snapshot, began = await eve.receive(), await eve.receive()
        assert (
            snapshot["players"] == ["eve", opponent]
            and snapshot["snapshot"]
            and snapshot["pace"] == "stepped"
        )
        assert (snapshot["game"], snapshot["view"]["you"], began["event"]["event"]) == (
            game,
            0,
            "began",
        )
        assert began["timeLeft"] == 300_000 and began["legal"] and began["view"]["you"] == 0
        frames = await play_out(eve, began)
        assert frames[-1]["event"]["result"]["causes"] == ["complete", "complete"]
        assert "refused" not in events(frames) and (await eve.until_closed())[1] == 1000
        entry = await house.desk.store.match(snapshot["match"])
        data = await house.desk.store.record(snapshot["match"])
        assert entry is not None and (entry.status, entry.pace) == ("ended", "stepped")
        record = read(data or b"")
        assert record.setup.terms == paced(CATALOGUE[game].terms, "stepped")
        verify(record, type(CATALOGUE[game].game)(**record.setup.options))


@pytest.mark.parametrize("game", ["battleship", "battlecube", "bomberman"])
async def test_house_bots_take_all_other_seats_of_a_larger_table(game: str, tmp_path: Path) -> None:
    login = person(game=game, opponent="house:random", options=SHORT.get(game, {}), players=3)
    async with server(tmp_path) as house, bot(house, login) as eve:
        assert (await eve.receive())["players"] == ["eve", "house:random", "house:random 1"]
        frames = await play_out(eve, await eve.receive())
        assert len(frames[-1]["event"]["result"]["places"]) == 3


async def test_an_illegal_move_is_refused_in_words_and_costs_nothing(tmp_path: Path) -> None:
    async with server(tmp_path) as house, seated(house) as (eve, _, began):
        for _ in range(4):
            await move(eve, {"mark": "X", "space": [7, 0]})
            refused = await eve.receive()
            assert refused["event"]["event"] == "refused" and "not 7" in refused["event"]["why"]
            assert refused["legal"] == began["legal"] and refused["event"]["strikes"] == 0


async def test_a_message_that_is_no_action_is_answered_in_words(tmp_path: Path) -> None:
    async with server(tmp_path) as house, seated(house) as (eve, _, _):
        await eve.send({"mark": "X", "space": [0, 0]})
        assert 'send {"move": ...}' in (await eve.receive())["error"]
        await eve.send({"ping": 7})
        assert await eve.receive() == {"pong": 7}


@pytest.mark.parametrize("game", CATALOGUE)
async def test_a_player_resigns_and_the_match_is_over(game: str, tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        seated(house, game=game, opponent="house:random") as (eve, snapshot, _),
    ):
        await eve.send({"resign": True})
        frames, code, _ = await eve.until_closed()
        assert events(frames)[-1] == "ended" and code == 1000
        assert frames[0]["event"]["cause"] == "resigned" and frames[-1]["event"]["result"][
            "places"
        ] == [2, 1]
        entry = await house.desk.store.match(snapshot["match"])
        assert entry is not None and entry.status == "ended"


@pytest.mark.parametrize("pace", ["slow", "stepped"])
async def test_two_people_meet_by_their_invite_and_nobody_else(
    pace: PaceName, tmp_path: Path
) -> None:
    async with (
        server(tmp_path, house_fill=True, house_wait=0.0) as house,
        bot(house, person("ann", invite="swordfish", pace=pace)) as ann,
        bot(house, person("bob", invite="other", pace=pace)),
        bot(house, person("cy", pace=pace)) as cy,
    ):
        assert (await cy.receive())["players"][1].startswith("house:")
        async with bot(house, person("dee", invite="swordfish", pace=pace)) as dee:
            for one, you in ((ann, 0), (dee, 1)):
                snapshot = await one.receive()
                assert (snapshot["players"], snapshot["view"]["you"]) == (["ann", "dee"], you)
                assert ("legal" in await one.receive()) is (you == 0)


async def test_an_invite_names_those_that_wait_and_can_be_declined(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        bot(house, person("ann", invite="a/b ü")) as ann,
        bot(house, person("bob", invite="other")) as bob,
        httpx.AsyncClient(trust_env=False, base_url=f"{house.url}/api/v1") as web,
    ):
        invite = "/invites/a%2Fb%20%C3%BC"
        assert (await web.get("/invites/nobody")).json() == {"waiting": []}
        assert (await web.get(invite)).json() == {"waiting": ["ann"]}
        assert (await web.delete(invite)).json() == {"waiting": ["ann"]}
        (told,), code, _ = await ann.until_closed()
        assert (told, code) == ({"error": "the other player does not want to play"}, 1000)
        assert (await web.get(invite)).json() == {"waiting": []}
        async with bot(house, person("cy", invite="other")):
            assert (await bob.receive())["players"] == ["bob", "cy"]


async def test_a_person_plays_the_novice_of_a_game(tmp_path: Path) -> None:
    login = person(game="gomoku", opponent="house:novice", options=SHORT["gomoku"])
    async with server(tmp_path) as house, bot(house, login) as eve:
        assert (await eve.receive())["players"] == ["eve", "house:novice"]
        frames = await play_out(eve, await eve.receive())
        assert frames[-1]["event"]["result"]["causes"] == ["complete", "complete"]
    async with (
        server(tmp_path) as house,
        bot(house, person(opponent="house:novice")) as eve,
    ):
        assert "there is no bot house:novice" in (await eve.receive())["error"]


async def test_different_paces_never_meet(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        usual = await registered(house, "ada")
        async with (
            bot(house, usual),
            bot(house, person("ann", pace="slow")),
            bot(house, person("bob", pace="stepped")),
            bot(house, person("cy", pace="slow")) as cy,
        ):
            assert (await cy.receive())["players"] == ["ann", "cy"]


@pytest.mark.parametrize("bot_first", [True, False])
async def test_a_named_bot_that_waits_plays_at_the_pace_of_the_person(
    bot_first: bool, tmp_path: Path
) -> None:
    async with server(tmp_path) as house:
        ada, eve = await registered(house, "ada"), person(opponent="ada")
        first, second = (ada, eve) if bot_first else (eve, ada)
        async with bot(house, first) as one, bot(house, second) as two:
            await one.receive()
            await two.receive()
            (table,) = house.desk.tables.live()
            assert table.pace == "stepped" and table.players == (first["name"], second["name"])


@pytest.mark.parametrize("game", ["gomoku", "bumblebots"])
async def test_a_bot_with_a_url_comes_at_once_and_plays_at_the_pace_of_the_person(
    game: str, tmp_path: Path
) -> None:
    async with server(tmp_path) as house, url_bot(game) as called:
        await with_address(house, "called", called, game)
        async with bot(
            house, person(game=game, opponent="called", options=SHORT.get(game, {}))
        ) as eve:
            snapshot = await eve.receive()
            assert set(snapshot["players"]) == {"eve", "called"} and snapshot["pace"] == "stepped"
            frames = await play_out(eve, await eve.receive())
            assert frames[-1]["event"]["result"]["causes"] == ["complete", "complete"]


async def test_people_of_one_address_leave_room_for_others_at_a_bot_with_a_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(url_bots, "MOST_MATCHES", 2)
    async with server(tmp_path) as house, url_bot("gomoku") as called:
        await with_address(house, "called", called, "gomoku")
        eve, mia = (person(name, "gomoku", opponent="called") for name in ("eve", "mia"))
        ada = await registered(house, "ada", "gomoku") | {"opponent": "called"}
        async with bot(house, eve) as first:
            assert "match" in await first.receive()
            async with bot(house, mia) as second:
                words = (
                    "called plays too many long matches against players from your address already"
                )
                assert await second.receive() == {"error": words}
            async with bot(house, ada) as third:
                assert "state" in await third.receive()
            await first.send({"resign": True})
            await first.until_closed()
        async with bot(house, mia) as again:
            assert "match" in await again.receive()


async def test_rest_and_spectators_are_told_the_pace(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        seated(house, pace="slow") as (_, snapshot, _),
        client(house, f"/watch/{snapshot['match']}") as spectator,
        httpx.AsyncClient(trust_env=False) as web,
    ):
        assert (await spectator.receive())["pace"] == "slow"
        (live,) = (await web.get(f"{house.url}/api/v1/live")).json()["tables"]
        match = (await web.get(f"{house.url}/api/v1/matches/{snapshot['match']}")).json()
        assert live["pace"] == match["pace"] == "slow"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("ada", "ada is a registered bot; choose another name"),
        ("аda", "looks like the name of a registered bot"),
        ("house:ada", "names that begin with house:"),
        ("House:ada", "names that begin with house:"),
        ("ada (guest)", "names that end with (guest)"),
        (" eve", "single spaces"),
        ("", "must not be empty"),
    ],
)
async def test_a_guest_needs_a_name_of_its_own(name: str, why: str, tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await registered(house, "ada")
        async with client(house) as one:
            await one.send(person(name))
            (answer,), code, _ = await one.until_closed()
            assert answer["authentication"] == "failed" and why in answer["why"] and code == 1000


async def test_a_guest_does_not_wait_for_another_of_its_name(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        bot(house, person("eve")),
        bot(house, person("eve", secret="quite another secret")) as two,
    ):
        (answer,), _, _ = await two.until_closed()
        assert answer == {
            "error": "another player with the name eve waits there; choose another name"
        }


async def test_the_newest_window_of_a_guest_waits(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        bot(house, person("eve")) as old,
        bot(house, person("eve")) as new,
        bot(house, person("ann")) as ann,
    ):
        assert "another window" in (await old.receive())["error"]
        assert (
            (await new.receive())["players"] == (await ann.receive())["players"] == ["eve", "ann"]
        )


async def test_the_secret_opens_the_flight_record(tmp_path: Path) -> None:
    async with server(tmp_path) as house, seated(house) as (eve, snapshot, began):
        await play_out(eve, began)
        url = f"{house.url}/api/v1/matches/{snapshot['match']}/seats/0/log"
        async with httpx.AsyncClient(trust_env=False) as web:
            for secret, status in ((f"{SECRET} eve", 200), ("a wrong secret", 403)):
                assert (
                    await web.get(url, headers={"Authorization": f"Bearer {secret}"})
                ).status_code == status


async def rematch(house: RunningServer, match: str, seat: int, secret: str) -> tuple[int, str]:
    url = f"{house.url}/api/v1/matches/{match}/seats/{seat}/rematch"
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    async with httpx.AsyncClient(trust_env=False) as web:
        answer = await web.get(url, headers=headers)
    return answer.status_code, answer.json().get("invite", "")


async def test_only_the_people_of_a_match_are_told_the_invite_of_its_rematch(
    tmp_path: Path,
) -> None:
    async with server(tmp_path) as house:
        async with bot(house, person("ann")) as ann, bot(house, person("dee")) as dee:
            match = (await ann.receive())["match"]
            await ann.send({"resign": True})
            for one in (ann, dee):
                await one.until_closed()
        status, invite = await rematch(house, match, 0, f"{SECRET} ann")
        assert (status, len(invite), match in invite) == (200, 32, False)
        assert await rematch(house, match, 1, f"{SECRET} dee") == (200, invite)
        refused = [(0, ""), (0, "wrong"), (1, f"{SECRET} ann"), (2, f"{SECRET} ann")]
        statuses = [(await rematch(house, match, *one))[0] for one in refused]
        assert statuses == [401, 403, 403, 404]


async def test_a_bot_is_told_no_invite_because_its_seat_has_no_secret(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        login = await registered(house, "ada")
        async with bot(house, login), bot(house, person("eve", opponent="ada")) as eve:
            snapshot = await eve.receive()
            await eve.send({"resign": True})
            await eve.until_closed()
        seats = {name: seat for seat, name in enumerate(snapshot["players"])}
        found = await rematch(house, snapshot["match"], seats["ada"], login["password"])
        assert found == (403, "")
        assert (await rematch(house, snapshot["match"], seats["eve"], f"{SECRET} eve"))[0] == 200


@pytest.mark.parametrize("guest", [True, False])
async def test_a_match_at_a_pace_for_people_is_unrated(guest: bool, tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        httpx.AsyncClient(trust_env=False, base_url=f"{house.url}/api/v1") as web,
    ):
        ada, login = await registered(house, "ada"), person(opponent="ada")
        if not guest:
            login |= await registered(house, "eve") | {"guest": False}
        async with bot(house, ada), bot(house, login) as eve:
            await eve.receive(), await eve.receive()
            await eve.send({"resign": True})
            await eve.until_closed()
        board = (await web.get("/games/noughts-and-crosses/leaderboard")).json()
        assert [(line["name"], line["games"], line["rating"]) for line in board["bots"]] == [
            (name, 0, None) for name in ("ada", *["eve"] * (not guest))
        ]
        profile = (await web.get("/profiles/ada")).json()
        assert profile["matches"] == 1 and profile["history"] == []


async def test_a_duel_bot_at_a_pace_for_people_is_unrated_too(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, free(house, "ada") as ada:
        await ada.send(FIND)
        async with bot(house, person(game="gomoku", opponent="ada")) as eve:
            assert (await eve.receive())["players"] in (["ada", "eve"], ["eve", "ada"])
            await eve.receive()
            await eve.send({"resign": True})
            assert events((await eve.until_closed())[0])[-1] == "ended"
        assert not await house.desk.store.notes(book_of("ada"))
