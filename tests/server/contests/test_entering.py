"""Bots that enter and leave contests, in unusual order."""

import asyncio
from pathlib import Path

import pytest

from botdrome.server.contests.contests import Action
from botdrome.server.lobby.desk import RETRY
from botdrome.store.contest_journal import ContestRefusal
from tests.patience import until
from tests.server.clients import NOTICES, PATIENCE, bot, leap, play_noughts, registered, server
from tests.server.contests.entrants import entered, open_contest, stored_cup

pytestmark = pytest.mark.anyio

GAME = "noughts-and-crosses"


async def test_bots_that_enter_at_the_same_time_stay_within_the_limits(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await open_contest(house, entry={"per_owner": 1})
        bots = [(await house.arena.register(GAME, name, "somebody"))[0] for name in ("ada", "bob")]
        enter = [house.contests.enter("cup", one, one.name) for one in (*bots, bots[0])]
        told = await asyncio.gather(*enter, return_exceptions=True)
        assert [str(one) for one in told] == [
            "None",
            "somebody has 1 bot in the contest; the limit is 1",
            "None",
        ]
        assert [one.name for one in house.contests.known("cup").entrants] == ["ada"]


async def test_a_bot_that_withdrew_may_enter_again_until_the_start(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await open_contest(house, entry={"late": True, "most": 2})
        ada, _ = await entered(house, "ada", "bob")
        await house.contests.withdraw("cup", "ada", "ada")
        with pytest.raises(ContestRefusal, match="at least 2 are needed"):
            await house.contests.act("cup", "start", "operator")
        async with bot(house, ada):
            await until(lambda: house.contests.known("cup").entrants[0].left is None)
        await house.contests.act("cup", "start", "operator")


async def test_a_withdrawn_bot_is_released_and_cannot_come_back(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await open_contest(house, entry={"late": True})
        ada, *_ = await entered(house, "ada", "bob", "cyd")
        await house.contests.act("cup", "start", "operator")
        async with bot(house, ada) as one:
            await until(lambda: "ada" not in house.contests.awaited("cup"))
            await house.contests.withdraw("cup", "ada", "operator")
            assert await one.receive() == {"contest": "cup", "complete": True}
        assert not house.contests.expecting(GAME, "ada") and house.contests.expecting(GAME, "bob")
        async with bot(house, ada | NOTICES) as one:
            left = "ada has left the contest 'cup', and cannot come back after the start"
            assert await one.receive() == {"error": left}


async def test_an_entrant_that_comes_after_the_end_is_told_so(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await open_contest(house)
        ada, _ = await entered(house, "ada", "bob")
        await house.contests.act("cup", "start", "operator")
        await house.contests.act("cup", "end", "operator")
        async with bot(house, ada) as one:
            assert await one.receive() == {"contest": "cup", "complete": True}
        actions: tuple[Action, ...] = ("start", "pause", "resume", "end")
        for action in actions:
            with pytest.raises(ContestRefusal, match="the contest 'cup' is over"):
                await house.contests.act("cup", action, "operator")
        assert house.contests.known("cup").entry.state == "over"


async def test_a_late_entrant_that_never_comes_keeps_no_contest_from_its_end(
    tmp_path: Path,
) -> None:
    async with server(tmp_path) as house:
        await open_contest(house, games=1, entry={"late": True}, penalties={"wait": 60})
        ada, bob = await entered(house, "ada", "bob")
        await house.contests.act("cup", "start", "operator")
        async with bot(house, ada) as one, bot(house, bob) as two:
            await asyncio.gather(one.receive(), two.receive())
            await entered(house, "cyd")
            await asyncio.gather(play_noughts(one, "ada"), play_noughts(two, "bob"))
            await asyncio.gather(one.send({"again": True}), two.send({"again": True}))
            contest = house.contests.running("cup")
            await until(lambda: contest is None or contest.awaited == ["cyd"])
            leap(61)
            assert (
                await one.receive() == await two.receive() == {"contest": "cup", "complete": True}
            )
        assert sorted(len(one.absent) for one in (await stored_cup(house)).results.values()) == [
            0,
            1,
            1,
        ]


async def test_strangers_that_are_refused_leave_no_trace(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await open_contest(house, entry={"kind": "list", "bots": ["ada", "bob"]})
        await entered(house, "ada", "bob")
        await house.contests.act("cup", "start", "operator")
        contest = house.contests.running("cup")
        assert contest is not None
        before = (dict(contest.players._waiting), set(contest._no_shows._since))
        async with bot(house, await registered(house, "eve") | {"contest": "cup"} | NOTICES) as one:
            assert await one.receive() == {
                "error": "the contest 'cup' has started, and takes no more bots"
            }
        assert (dict(contest.players._waiting), set(contest._no_shows._since)) == before


async def test_an_open_contest_holds_no_bots_back_after_a_restart(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await open_contest(house)
        await entered(house, "ada", "bob")
    async with server(tmp_path) as house:
        assert not house.contests.expecting(GAME, "ada")


async def test_a_client_of_the_original_waits_in_silence_until_its_bot_is_entered(
    tmp_path: Path,
) -> None:
    """It would connect again after a close, at once and for ever."""
    async with server(tmp_path) as house:
        await open_contest(house, entry={"kind": "password", "password": "sesame"})
        ada, bob = [await registered(house, name) | {"contest": "cup"} for name in ("ada", "bob")]
        async with bot(house, ada) as one, bot(house, bob) as two:
            await until(lambda: len(house.desk.postponed._silent) == 2)
            for each in (one, two):
                await asyncio.wait_for(
                    await each.socket.ping(), PATIENCE
                )  # a message or a close would come before the pong
            for name in ("ada", "bob"):
                entry = await house.arena.store.bot(name)
                assert entry is not None
                await house.contests.enter("cup", entry, name, "sesame")
            await house.contests.act("cup", "start", "operator")
            leap(RETRY)
            await asyncio.gather(play_noughts(one, "ada"), play_noughts(two, "bob"))
