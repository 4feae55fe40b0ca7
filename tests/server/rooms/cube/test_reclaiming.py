"""Only the holder of the game's key can continue a game after a lost connection."""

from pathlib import Path
from typing import Any

import pytest

from tests.server.clients import server
from tests.server.rooms.cube.clients import NOOP, Organiser, bot, fence, game, organiser, saying
from tests.server.rooms.cube.test_games import CORNERS, Patient, names

pytestmark = pytest.mark.anyio


async def started(one: Organiser, *players: tuple[str, str], **setup: Any) -> dict[str, str]:
    """The id of a game, and the key to it."""
    await one.emit("NEW_GAME", game(*players, playerStartPositions=CORNERS, **setup))
    event, payload = await one.receive()
    assert (event, set(payload)) == ("GAME_STARTED", {"id", "key"})
    return dict(payload)


async def test_an_organiser_that_reconnects_controls_its_game_again(tmp_path: Path) -> None:
    ann = Patient()
    async with (
        server(tmp_path) as house,
        bot(ann) as first,
        bot(saying(NOOP)) as second,
        organiser(house) as two,
    ):
        async with organiser(house) as one:
            claim = await started(one, ("A", first.url), ("B", second.url), maxNumOfTicks=1)
        await two.emit("RECLAIM_GAME", claim)
        assert await two.receive() == ("GAME_RECLAIMED", {"id": claim["id"], "players": ["A", "B"]})
        assert names([await two.receive()]) == ["NEXT_TICK"]
        await two.emit("PAUSE_GAME")
        await two.emit("RESUME_GAME", {"id": claim["id"]})
        assert names(await two.until("GAME_RESUMED")) == ["GAME_PAUSED", "GAME_RESUMED"]
        await ann.answer()
        end = (await two.until("GAME_ENDED"))[-1][1]
        assert [score["url"] for score in end["scores"]] == [first.url, second.url], (
            "it typed them in"
        )
        await two.emit("RECLAIM_GAME", claim)
        assert (await two.error())["error"] == "UNKNOWN_GAME"


async def test_a_game_that_was_reclaimed_does_not_end_for_want_of_an_organiser(
    tmp_path: Path,
) -> None:
    ann = Patient()
    async with (
        server(tmp_path, cube_keep=0.2) as house,
        bot(ann) as first,
        organiser(house) as two,
        organiser(house) as other,
    ):
        async with organiser(house) as one:
            claim = await started(one, ("A", first.url), ("B", first.url))
            await two.emit("RECLAIM_GAME", claim)
            await two.until("NEXT_TICK")
        async with organiser(house) as third:
            left = await started(third, ("A", first.url), ("B", first.url))
            await other.emit("WATCH_GAME", left["id"])
            await other.until("NEXT_TICK")
        assert (await other.until("GAME_ENDED"))[-1][1]["result"] == "STOPPED"
        await two.emit("STOP_GAME", {"id": claim["id"]})
        assert (await two.until("GAME_ENDED"))[-1][1]["id"] == claim["id"]


async def test_it_need_not_wait_until_the_old_connection_is_given_up(tmp_path: Path) -> None:
    """A lost connection is noticed late: the game belongs to the last client that came with the
    key.
    """
    async with (
        server(tmp_path) as house,
        bot(Patient()) as first,
        organiser(house) as one,
        organiser(house) as two,
    ):
        claim = await started(one, ("A", first.url), ("B", first.url))
        for _ in range(2):
            await two.emit("RECLAIM_GAME", claim)
            assert names(await two.until("GAME_RECLAIMED"))[-1] == "GAME_RECLAIMED"
        await one.emit("STOP_GAME", {"id": claim["id"]})
        assert (await one.until("ERROR"))[-1][1]["error"] == "NOT_YOUR_GAME"
        await two.emit("STOP_GAME")
        assert (await two.until("GAME_ENDED"))[-1][1]["result"] == "STOPPED"
        assert "url" not in (await one.until("GAME_ENDED"))[-1][1]["scores"][0]


async def test_an_organiser_that_loses_a_game_is_told_and_still_watches_it(tmp_path: Path) -> None:
    ann = Patient()
    async with (
        server(tmp_path) as house,
        bot(ann) as first,
        organiser(house) as one,
        organiser(house) as two,
    ):
        claim = await started(one, ("A", first.url), ("B", first.url))
        await one.until("NEXT_TICK")
        for _ in range(2):
            await two.emit("RECLAIM_GAME", claim)
            await two.until("GAME_RECLAIMED")
        assert await fence(one) == [("GAME_TAKEN_OVER", {"id": claim["id"]})], (
            "once: the second time it was no longer its own"
        )
        assert "GAME_TAKEN_OVER" not in names(await fence(two)), (
            "nobody takes a game away from itself"
        )
        await one.emit("RECLAIM_GAME", claim)
        assert names(await one.until("GAME_RECLAIMED")) == ["GAME_RECLAIMED"]
        assert names(await two.until("GAME_TAKEN_OVER")) == ["GAME_TAKEN_OVER"]
        await one.emit("STOP_GAME")
        for each in (one, two):
            assert (await each.until("GAME_ENDED"))[-1][1]["result"] == "STOPPED"


async def test_strangers_cannot(tmp_path: Path) -> None:
    async with (
        server(tmp_path, cube_games=1) as house,
        bot(Patient()) as first,
        organiser(house) as one,
        organiser(house) as two,
    ):
        claim = await started(one, ("A", first.url), ("B", first.url))
        await two.emit("WATCH_GAME", claim["id"])
        assert claim["key"] not in str(await two.until("NEXT_TICK"))
        await two.emit("LIST_GAMES")
        assert claim["key"] not in str(await two.receive())
        for key in (claim["id"], claim["key"][:-1], "é"):
            await two.emit("RECLAIM_GAME", {"id": claim["id"], "key": key})
            assert (await two.error())["error"] == "NOT_YOUR_GAME"
        wrongs: list[Any] = [
            claim["id"],
            {"id": claim["id"]},
            {"key": claim["key"]},
            {**claim, "key": ""},
            None,
            [],
        ]
        for wrong in wrongs:
            await two.emit("RECLAIM_GAME", wrong)
            assert (await two.error())["error"] == "INVALID_GAME_CONFIGURATION"
        await started(two, ("A", first.url), ("B", first.url))
        await two.emit("RECLAIM_GAME", claim)
        assert (await two.until("ERROR"))[-1][1]["details"] == "You have 1 game already"
        await fence(one)
        await one.emit("STOP_GAME", {"id": claim["id"]})
        await one.until("GAME_ENDED")
