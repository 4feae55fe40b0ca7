"""Contests with a document, on a real server."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from botdrome.contest.document import document_from
from botdrome.contest.progress import ContestProgress
from botdrome.store.contest_journal import ContestRefusal, StoredContest
from botdrome.store.entries import Wanted
from tests.cli.commands import run_beside
from tests.patience import until
from tests.server.clients import PATIENCE, bot, leap, registered, server
from tests.server.contests.entrants import (
    CUP,
    cup_progress,
    entered,
    open_contest,
    play_all,
    stored_cup,
)

pytestmark = pytest.mark.anyio

GAME = str(CUP["game"])


async def test_a_contest_runs_to_its_end(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await open_contest(house)
        logins = await entered(house, "ada", "bob", "cyd")
        await house.contests.act("cup", "start", "operator")
        stored = await play_all(house, logins)
        matches = await house.arena.store.matches(Wanted(contest="cup"))
        assert stored.entry.state == "over" and len(stored.results) == 6
        assert {result.match for result in stored.results.values()} == {
            match.id for match in matches
        }
        assert [line.action for line in stored.log if line.action != "entered"] == [
            "created",
            "open",
            "running",
            "over",
        ]


async def test_a_contest_goes_on_after_a_restart(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await open_contest(house)
        ada, bob = await entered(house, "ada", "bob")
        await house.contests.act("cup", "start", "operator")
        async with bot(house, ada) as one, bot(house, bob) as two:
            match = (await one.receive())["match"]
            table = house.desk.tables[match]
            assert table is not None and (await two.receive())["match"] == match
            table.abort("the server is stopped")
            await one.receive()
    async with server(tmp_path) as house:
        assert len((await play_all(house, [ada, bob])).results) == 2
        statuses = [
            match.status for match in await house.arena.store.matches(Wanted(contest="cup"))
        ]
        assert sorted(statuses) == ["aborted", "ended", "ended"]


async def test_contests_leave_and_come_back(tmp_path: Path) -> None:
    """As on a node of a cluster, while another one attends to them."""
    async with server(tmp_path) as house:
        await open_contest(house, end="2126-01-01T12:00:00Z")
        logins = await entered(house, "ada", "bob")
        await house.contests.act("cup", "start", "operator")
        assert house.contests.are_running("noughts-and-crosses") and not house.contests.are_running(
            "gomoku"
        )
        house.contests.leave("gomoku")
        assert house.contests.running("cup") is not None
        house.contests.leave("noughts-and-crosses")
        assert house.contests.running("cup") is None and not house.contests.are_running(
            "noughts-and-crosses"
        )
        assert not house.contests.moments._timers
        await house.contests.moments._follow("cup", "end")  # its moment had come when it left
        await house.contests.open("noughts-and-crosses")
        assert len((await play_all(house, logins)).results) == 2


async def test_house_bots_play_by_themselves(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        house.desk.workers.start()
        over = asyncio.Event()
        house.contests.on_change.append(
            lambda: over.set() if house.contests.running("cup") is None else None
        )
        await open_contest(house, entrants=[{"bot": "house:random"}, {"bot": "house:perfect"}])
        await house.contests.act("cup", "start", "operator")
        await asyncio.wait_for(over.wait(), PATIENCE)
        cup = await stored_cup(house)
        drawn = [result.places == (1, 1) for result in cup.results.values()]
        assert len(drawn) == 2 and cup.entry.state == "over"
        assert places_in(cup) == (
            [1, 1] if all(drawn) else [1, 2]
        )  # a random bot may draw twice by chance
        draws = {key: replace(result, places=(1, 1)) for key, result in cup.results.items()}
        assert places_in(replace(cup, results=draws)) == [1, 1]


def places_in(cup: StoredContest) -> list[int]:
    return [
        standing.place
        for standing in ContestProgress(cup.entry.document, cup.entrants, cup.results).standings()
    ]


@pytest.mark.parametrize(("rule", "places"), [("forfeit", (1, 2)), ("skip", ())])
async def test_a_bot_that_does_not_come_forfeits(
    tmp_path: Path, rule: str, places: tuple[int, ...]
) -> None:
    async with server(tmp_path) as house:
        await open_contest(house, games=1, penalties={"no_show": rule, "wait": 60})
        ada, _ = await entered(house, "ada", "bob")
        await house.contests.act("cup", "start", "operator")
        async with bot(house, ada) as one:
            await until(lambda: "bob" in house.contests.awaited("cup"))
            leap(61)
            assert await one.receive() == {"contest": "cup", "complete": True}
        ((key, result),) = (await stored_cup(house)).results.items()
        numbers = (await cup_progress(house)).fixtures[key].entrants
        assert [numbers[seat] for seat in result.absent] == [1]
        assert (
            tuple(sorted(result.places)) == places and result.places.index(1) == numbers.index(0)
            if places
            else True
        )


async def test_a_contest_may_wait_for_its_organiser(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await open_contest(house, games=1, penalties={"no_show": "wait", "wait": 0})
        ada, _ = await entered(house, "ada", "bob")
        await house.contests.act("cup", "start", "operator")
        async with bot(house, ada) as one:
            await until(lambda: "bob" in house.contests.awaited("cup"))
            await house.contests.withdraw("cup", "bob", "operator", "it is broken")
            assert await one.receive() == {"contest": "cup", "complete": True}


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ({"kind": "list", "bots": ["bob"]}, "ada is not on the list of the contest 'cup'"),
        ({"kind": "password", "password": "sesame"}, "the contest 'cup' needs its password"),
        ({"most": 1}, "the contest is full: it has 1 bot"),
        ({"per_owner": 1}, "somebody has 1 bot in the contest; the limit is 1"),
    ],
)
async def test_entry_rules(tmp_path: Path, rules: dict[str, Any], problem: str) -> None:
    async with server(tmp_path) as house:
        await open_contest(house)
        if "most" in rules or "per_owner" in rules:
            await entered(house, "bob")
        await house.contests.change("cup", document_from(CUP | {"entry": rules}), "operator")
        login = await registered(house, "ada") | {"contest": "cup", "features": ["notices"]}
        async with bot(house, login) as one:
            assert await one.receive() == {"error": problem}


async def test_a_password_opens_a_contest(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await open_contest(house, entry={"kind": "password", "password": "sesame"})
        await registered(house, "ada")
        entry = await house.arena.store.bot("ada")
        assert entry is not None
        await house.contests.enter("cup", entry, "ada", "sesame")
        assert [entrant.name for entrant in house.contests.known("cup").entrants] == ["ada"]


async def test_states(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await open_contest(house)
        with pytest.raises(ContestRefusal, match="2"):
            await house.contests.act("cup", "start", "operator")
        ada, bob = await entered(house, "ada", "bob")
        await house.contests.act("cup", "start", "operator")
        await house.contests.act("cup", "pause", "operator")
        async with bot(house, ada) as one, bot(house, bob) as two:
            await house.contests.act("cup", "resume", "operator")
            assert "match" in await one.receive() and "match" in await two.receive()
        await registered(house, "cyd")
        cyd = await house.arena.store.bot("cyd")
        assert cyd is not None
        with pytest.raises(ContestRefusal, match="has started, and takes no more bots"):
            await house.contests.enter("cup", cyd, "cyd")


async def test_a_contest_starts_and_ends_at_its_moments(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await open_contest(house)
        await entered(house, "ada", "bob")
        over = asyncio.Event()
        house.contests.on_change.append(
            lambda: over.set() if house.contests.running("cup") is None else None
        )
        times = {"start": "2026-01-01T10:00:00Z", "end": "2026-01-01T12:00:00Z"}
        await house.contests.change("cup", document_from(CUP | times), "operator")
        await asyncio.wait_for(over.wait(), PATIENCE)
        log = (await stored_cup(house)).log
        assert [(line.author, line.action) for line in log[-2:]] == [
            ("the document", "running"),
            ("the document", "over"),
        ]


async def test_a_start_on_time_is_stored_before_another_node_has_the_contest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with server(tmp_path) as house:
        await open_contest(house)
        await entered(house, "ada", "bob")
        contests, change_state, go_on = (
            house.contests,
            house.contests.journal.change_state,
            asyncio.Event(),
        )

        async def held(*words: Any) -> None:
            await go_on.wait()
            await change_state(*words)

        monkeypatch.setattr(contests.journal, "change_state", held)
        await contests.change(
            "cup", document_from(CUP | {"start": "2026-01-01T10:00:00Z"}), "operator"
        )
        await until(lambda: contests.moments.acting[GAME])
        contests.leave(GAME)
        go_on.set()
        await until(lambda: not contests.moments.acting[GAME])
        assert contests["cup"] is None and not contests.moments._timers
        assert (await stored_cup(house)).entry.state == "running"
        await contests.open(GAME)
        assert contests.running("cup") is not None and contests.are_running(GAME)


async def test_a_contest_with_too_few_bots_at_its_start_waits_for_its_organiser(
    tmp_path: Path,
) -> None:
    times = {"start": "2026-01-01T10:00:00Z"}
    async with server(tmp_path) as house:
        await open_contest(house)
        await entered(house, "ada")
        await house.contests.change("cup", document_from(CUP | times), "operator")
        await until(lambda: house.contests.known("cup").entry.why)
        async with httpx.AsyncClient(base_url=f"{house.url}/api/v1") as web:
            shown = (await web.get("contest-documents/cup")).json()
            assert (
                shown["why"]
                == "it cannot start as its document says: 1 entrant cannot fill a table of 2; at "
                "least 2 are needed"
            )
            assert shown["log"][0]["action"] == "cannot start"
            (listed,) = (await web.get("contest-documents?state=current")).json()["contests"]
            assert (listed["state"], listed["why"], listed["entry"], listed["late"]) == (
                "open",
                shown["why"],
                "open",
                False,
            )
            assert not (await web.get("contest-documents?state=draft")).json()["contests"]
        await entered(house, "bob")
    async with server(tmp_path) as house:
        await asyncio.sleep(0)
        assert house.contests.known("cup").entry.state == "open"
        await house.contests.act("cup", "start", "operator")
        assert not house.contests.known("cup").entry.why


async def test_matches_are_played_again(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await open_contest(house)
        logins = await entered(house, "ada", "bob", "cyd")
        await house.contests.act("cup", "start", "operator")
        with pytest.raises(ContestRefusal, match="pause it first"):
            await house.contests.rerun("cup", ["cyd"], False, "operator")
        first = await play_all(house, logins)
        with pytest.raises(ContestRefusal, match="no such matches"):
            await house.contests.rerun("cup", [], True, "operator")
        await house.contests.rerun("cup", ["cyd"], False, "operator")
        again = await stored_cup(house)
        assert (again.entry.state, len(again.results), again.log[-2].action) == (
            "paused",
            2,
            "annulled",
        )
        await house.contests.act("cup", "resume", "operator")
        second = await play_all(house, logins)
        assert len(second.results) == 6 and first.results != second.results


async def test_a_contest_of_a_server_is_exported_and_verified(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await open_contest(house)
        logins = await entered(house, "ada", "bob")
        await house.contests.act("cup", "start", "operator")
        await play_all(house, logins)
    archive = tmp_path / "cup.zip"
    written = await run_beside(
        "contest", "archive", str(tmp_path / "test.db"), "cup", "-o", str(archive)
    )
    assert written.exit_code == 0, written.output
    checked = await run_beside("verify", str(archive))
    assert checked.exit_code == 0, checked.output


async def test_a_contest_that_ended_early_is_verified(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await open_contest(house)
        await entered(house, "ada", "bob")
        await house.contests.act("cup", "start", "operator")
        await house.contests.act("cup", "end", "operator")
    archive = str(tmp_path / "cup.zip")
    assert (
        await run_beside("contest", "archive", str(tmp_path / "test.db"), "cup", "-o", archive)
    ).exit_code == 0
    checked = await run_beside("verify", archive)
    assert checked.exit_code == 0 and "0 matches" in checked.stdout, checked.output
