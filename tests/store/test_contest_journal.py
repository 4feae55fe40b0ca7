"""The journal of contests: states, entrants, results that count once, and the log of
every change.
"""

from typing import Any

import pytest

from botdrome.contest.document import ContestDocument, EntryRules
from botdrome.contest.formats.format import Entrant, FixtureResult
from botdrome.store.contest_journal import (
    TRANSITIONS,
    ContestJournal,
    ContestRefusal,
    UnknownContest,
)
from botdrome.store.entries import ContestResult
from botdrome.store.store import Store, open_store
from tests.store.entries import a_match, an_end, play

pytestmark = pytest.mark.anyio

CUP = ContestDocument(name="cup", game="gomoku", options={"width": 15}, format_="swiss")


async def a_contest(store: Store, document: ContestDocument = CUP, *names: str) -> ContestJournal:
    journal = ContestJournal(store, iter(range(1000, 2000)).__next__)
    await journal.create(document, "olga", [Entrant(name, "olga", "1") for name in names])
    return journal


async def log_of(journal: ContestJournal) -> list[tuple[str, str, str]]:
    return [(line.author, line.action, line.detail) for line in (await journal.load("cup")).log]


async def test_a_contest_is_kept_whole(store: Store) -> None:
    journal = await a_contest(store, CUP, "ada", "bob")
    assert await journal.enter("cup", Entrant("cy", version="v2"), "cy") == 2
    await journal.withdraw("cup", 1, 3, "olga", "ill")
    await journal.create(ContestDocument(name="other", game="gomoku"), "olga")
    found = await journal.load("cup")
    assert (found.entry.document, found.entry.state, found.entry.created) == (CUP, "draft", 1000)
    assert found.entrants == [
        Entrant("ada", "olga", "1"),
        Entrant("bob", "olga", "1", left=3),
        Entrant("cy", version="v2"),
    ]
    assert [*await journal.contests()] == ["cup", "other"]
    assert await log_of(journal) == [
        ("olga", "created", "2 entrants"), ("cy", "entered", "cy"), ("olga", "withdrawn", "bob: ill")
    ]  # fmt: skip


async def test_a_name_is_taken_once(store: Store) -> None:
    journal = await a_contest(store, CUP, "ada")
    with pytest.raises(ContestRefusal, match="a contest 'cup' already"):
        await journal.create(CUP, "eve")
    with pytest.raises(ContestRefusal, match="ada has entered already"):
        await journal.enter("cup", Entrant("ada"), "eve")
    with pytest.raises(UnknownContest, match="no contest 'cap' in this store; there are: cup"):
        await journal.load("cap")


@pytest.mark.parametrize("now", TRANSITIONS)
@pytest.mark.parametrize("then", TRANSITIONS)
async def test_states_follow_one_table(sqlite_url: str, now: Any, then: Any) -> None:
    store = await open_store(sqlite_url)
    journal = await a_contest(store)
    for state in {"draft": (), "open": ("open",), "running": ("running",)}.get(
        now, ("running", now)
    ):
        await journal.change_state("cup", state, "olga")
    if then in TRANSITIONS[now]:
        await journal.change_state("cup", then, "olga", "because")
        assert ((await journal.entry("cup")).state, (await log_of(journal))[-1]) == (
            then,
            ("olga", then, "because"),
        )
    else:
        with pytest.raises(
            ContestRefusal, match=f"is {now} and cannot become {then}; it can become"
        ):
            await journal.change_state("cup", then, "olga")
    await store.close()


async def test_a_document_changes_only_before_the_start(store: Store) -> None:
    journal = await a_contest(store)
    longer = ContestDocument(
        name="cup", game="gomoku", options={"width": 15}, format_="swiss", rounds=7
    )
    await journal.change_document("cup", longer, "olga")
    assert (await journal.entry("cup")).document == longer
    assert (await log_of(journal))[-1] == ("olga", "changed", "rounds was null, is 7")
    with pytest.raises(ContestRefusal, match="stays 'cup'"):
        await journal.change_document("cup", ContestDocument(name="mug", game="gomoku"), "olga")
    await journal.change_state("cup", "running", "olga")
    with pytest.raises(
        ContestRefusal, match="is running; its document can be changed only before the start"
    ):
        await journal.change_document("cup", CUP, "olga")


@pytest.mark.parametrize("allowed", [False, True])
async def test_a_new_version_enters_only_where_the_document_allows_it(
    store: Store, allowed: bool
) -> None:
    journal = await a_contest(
        store, ContestDocument(name="cup", game="gomoku", entry=EntryRules(versions=allowed)), "ada"
    )
    await journal.replace_version("cup", 0, "2", "ada")
    await journal.change_state("cup", "running", "olga")
    if not allowed:
        with pytest.raises(
            ContestRefusal, match="ada has changed since the contest started: version 2, now 3"
        ):
            await journal.replace_version("cup", 0, "3", "ada")
    else:
        await journal.replace_version("cup", 0, "3", "ada")
    assert (await journal.entrants("cup"))[0].version == ("3" if allowed else "2")


async def test_a_result_comes_with_the_end_of_its_match_and_counts_once(store: Store) -> None:
    journal = await a_contest(store, CUP, "ada", "bob")
    won = FixtureResult((1, 2), match="m")
    await play(store, a_match("m"), 1, 2, notes=(ContestResult("cup", "1.1.1", won),))
    await store.finish(an_end("m", notes=(ContestResult("cup", "1.1.1", FixtureResult((2, 1))),)))
    await journal.keep_results(
        "cup", {"1.1.2": FixtureResult((2, 1), absent=(0,))}, "arena", "ada did not come"
    )
    found = await journal.load("cup")
    assert found.results == {"1.1.1": won, "1.1.2": FixtureResult((2, 1), absent=(0,))}
    assert (await log_of(journal))[-1] == ("arena", "decided", "1.1.2: ada did not come")
    assert (await journal.load_small("cup")).results == {
        **found.results,
        "1.1.1": FixtureResult((1, 2)),
    }


async def test_annulled_results_stay_in_the_log(store: Store) -> None:
    journal = await a_contest(store, CUP, "ada", "bob")
    old = {"1.1.1": FixtureResult((1, 2), crashed=(1,)), "1.1.2": FixtureResult((1, 1))}
    await journal.keep_results("cup", old, "arena", "played")
    await journal.annul_results("cup", {"1.1.1": old["1.1.1"]}, "olga", "bob crashed")
    for found in await journal.load("cup"), await journal.load_small("cup"):
        assert found.results == {"1.1.2": old["1.1.2"]} and found.log[-1].old == {
            "1.1.1": old["1.1.1"]
        }
    await journal.keep_results("cup", {"1.1.1": FixtureResult((2, 1))}, "arena", "played again")
    assert (await journal.load("cup")).results["1.1.1"] == FixtureResult((2, 1))
    await journal.keep_results(
        "cup", {f"2.{number}.1": FixtureResult((1, 2)) for number in range(12)}, "arena", "imported"
    )
    assert (await log_of(journal))[-1][2].endswith("2.8.1, 2.9.1 and 2 more: imported")
    await journal.write_log("cup", "olga", "remark", "all is well")
    assert (await log_of(journal))[-1] == ("olga", "remark", "all is well")
