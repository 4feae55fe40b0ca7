"""Contests that meet trouble while they run."""

import asyncio
from pathlib import Path

import pytest

from botdrome.server.contests import running_contest
from botdrome.store.contest_journal import ContestJournal, ContestRefusal
from tests.patience import PAUSE, until
from tests.server.clients import PATIENCE, Client, bot, leap, play_noughts, server
from tests.server.contests.entrants import cup_progress, entered, open_contest, play_all, stored_cup
from tests.server.outages import Outage

pytestmark = pytest.mark.anyio


@pytest.fixture
def outage(monkeypatch: pytest.MonkeyPatch) -> Outage:
    monkeypatch.setattr(running_contest, "RETRY", 0.001)
    monkeypatch.setattr("botdrome.server.contests.contests.RETRY", 0.001)
    return Outage(monkeypatch)


async def play(one: Client, two: Client) -> None:
    await asyncio.gather(play_noughts(one, "ada"), play_noughts(two, "bob"))


async def test_a_tied_series_goes_on(tmp_path: Path) -> None:
    """Its round gets more fixtures than were planned at first."""
    async with server(tmp_path) as house:
        await open_contest(house, format="knockout", best_of=3, games=None)
        logins = await entered(house, "ada", "bob")
        await house.contests.act("cup", "start", "operator")
        stored = await play_all(house, logins)
        assert list(stored.results) == ["1.1.1", "1.1.2", "1.1.3"]


async def test_a_match_counts_though_a_player_was_withdrawn_meanwhile(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await open_contest(house, games=1)
        ada, bob = await entered(house, "ada", "bob")
        await house.contests.act("cup", "start", "operator")
        async with bot(house, ada) as one, bot(house, bob) as two:
            await asyncio.gather(one.receive(), two.receive())
            await house.contests.withdraw("cup", "bob", "operator")
            assert house.contests.known("cup").entry.state == "running"
            await play(one, two)
            await one.send({"again": True})
            assert await one.receive() == {"contest": "cup", "complete": True}
        (result,) = (await stored_cup(house)).results.values()
        assert result.match


async def test_an_aborted_match_of_a_withdrawn_bot_is_forfeited(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await open_contest(house, games=1)
        ada, bob = await entered(house, "ada", "bob")
        await house.contests.act("cup", "start", "operator")
        async with bot(house, ada) as one, bot(house, bob) as two:
            told, _ = await asyncio.gather(one.receive(), two.receive())
            await house.contests.withdraw("cup", "bob", "operator")
            table = house.desk.tables[told["match"]]
            assert table is not None
            table.abort("a fault")
            await until(lambda: house.contests.running("cup") is None)
        assert [one.no_shows for one in (await cup_progress(house)).standings()] == [0, 1]


async def test_the_end_of_a_contest_aborts_its_matches(tmp_path: Path) -> None:
    """Its secret is published then, from which the seeds of running matches follow."""
    async with server(tmp_path) as house:
        await open_contest(house, games=1)
        ada, bob = await entered(house, "ada", "bob")
        await house.contests.act("cup", "start", "operator")
        async with bot(house, ada) as one, bot(house, bob) as two:
            told, _ = await asyncio.gather(one.receive(), two.receive())
            table = house.desk.tables[told["match"]]
            await house.contests.act("cup", "end", "operator")
            assert (
                table is not None and table.match.result is not None and table.match.result.aborted
            )
        assert not (await stored_cup(house)).results


async def test_a_contest_that_cannot_continue_says_so_and_goes_on_when_it_can(
    tmp_path: Path,
) -> None:
    async with server(tmp_path) as house:
        await open_contest(house, format="gauntlet", champion="cyd", games=1, entry={"late": True})
        logins = await entered(house, "ada", "bob")
        await house.contests.act("cup", "start", "operator")
        while (log := (await house.contests.journal.load("cup")).log)[
            -1
        ].action != "cannot continue":
            await asyncio.sleep(PAUSE)
        assert "'cyd' has not entered" in log[-1].detail
        logins += await entered(house, "cyd")
        assert len((await play_all(house, logins)).results) == 2


async def test_forfeits_and_the_end_wait_for_the_store(tmp_path: Path, outage: Outage) -> None:
    async with server(tmp_path) as house:
        await open_contest(house, games=1, penalties={"wait": 60})
        ada, _ = await entered(house, "ada", "bob")
        await house.contests.act("cup", "start", "operator")
        async with bot(house, ada) as one:
            await until(lambda: house.contests.awaited("cup") == ["bob"])
            outage.begin(reads=False)
            leap(61)
            (told,) = await outage.silent(one.receive())
            assert house.contests.running("cup") is not None
            outage.end()
            assert await told == {"contest": "cup", "complete": True}
        assert [line.action for line in (await stored_cup(house)).log[-2:]] == ["decided", "over"]


async def test_the_end_is_stored_later_if_it_cannot_be_read_at_once(
    tmp_path: Path, outage: Outage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with server(tmp_path) as house:
        await open_contest(house, games=1)
        await entered(house, "ada", "bob")
        await house.contests.act("cup", "start", "operator")
        over, failed = asyncio.Event(), asyncio.Event()
        house.contests.on_change.append(
            lambda: over.set() if house.contests.running("cup") is None else None
        )
        change = ContestJournal.change_state

        async def fail_once(*arguments: str) -> None:
            if not failed.is_set():
                failed.set()
                raise OSError("no space left on device")
            await change(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(ContestJournal, "change_state", fail_once)
        await house.contests.withdraw("cup", "bob", "operator")
        await asyncio.wait_for(over.wait(), PATIENCE)
        assert failed.is_set() and house.contests.known("cup").entry.state == "over"


async def test_a_withdrawal_is_stored_before_its_opponents_are_told(
    tmp_path: Path, outage: Outage
) -> None:
    async with server(tmp_path) as house:
        await open_contest(house, games=1)
        ada, _ = await entered(house, "ada", "bob")
        await house.contests.act("cup", "start", "operator")
        async with bot(house, ada) as one:
            outage.begin()
            told, done = await outage.silent(
                one.receive(), house.contests.withdraw("cup", "bob", "operator")
            )
            outage.end()
            await done
            assert await told == {"contest": "cup", "complete": True}


async def test_matches_are_played_again_only_when_none_runs_and_players_that_wait_stay(
    tmp_path: Path,
) -> None:
    async with server(tmp_path) as house:
        await open_contest(house)
        ada, bob = await entered(house, "ada", "bob")
        await house.contests.act("cup", "start", "operator")
        async with bot(house, ada) as one, bot(house, bob) as two:
            await asyncio.gather(one.receive(), two.receive())
            await house.contests.act("cup", "pause", "operator")
            with pytest.raises(ContestRefusal, match="the contest still has 1 running match: wait"):
                await house.contests.rerun("cup", ["ada"], False, "operator")
            await play(one, two)
            await asyncio.gather(one.send({"again": True}), two.send({"again": True}))
            await until(
                lambda: not ((contest := house.contests.running("cup")) and contest.playing)
            )
            await house.contests.rerun("cup", ["ada"], False, "operator")
            assert not (await stored_cup(house)).results
            await house.contests.act("cup", "resume", "operator")
            assert "match" in await one.receive() and "match" in await two.receive()
