"""REST for the pages of contests: lists, champions, groups, brackets, crosstables and CSV."""

from typing import Any

import httpx
import pytest

from botdrome.api.rest import contests
from botdrome.contest.document import document_from
from botdrome.contest.formats.format import Entrant, FixtureResult
from botdrome.contest.progress import ContestProgress
from botdrome.store.contest_journal import ContestJournal
from botdrome.store.entries import ContestResult, MatchEntry, Wanted
from botdrome.store.store import Store
from tests.api.tables import NOON
from tests.api.test_rest import get
from tests.api.test_rest_reports import GAME, play
from tests.contest.formats.examples import seeds_win

pytestmark = pytest.mark.anyio


async def hold(
    store: Store, name: str, entrants: str, most: int = 100, over: bool = True, **keys: Any
) -> ContestProgress:
    """A contest in which the earlier entrants beat the later ones, after so many matches."""
    journal = ContestJournal(store)
    document = document_from({"name": name, "game": GAME, "games": 1, **keys})
    await journal.create(document, "olga", [Entrant(bot) for bot in entrants.split()])
    await journal.change_state(name, "running", "olga")
    progress = ContestProgress(document, await journal.entrants(name), {})
    for _ in range(most):
        if not progress.open:
            break
        fixture = next(iter(progress.open.values()))
        result = FixtureResult(seeds_win(fixture).places, match=f"{name} {fixture.key}")
        await store.keep([ContestResult(name, fixture.key, result)])
        progress.add(fixture.key, result)
    if over:
        await journal.change_state(name, "over", "olga")
    return progress


async def test_contests_are_listed_by_state_and_game_with_their_champions(
    http: httpx.AsyncClient, store: Store
) -> None:
    await hold(store, "done", "ada bob cid", title="The Done Cup")
    await hold(store, "ended early", "ada bob cid dan", most=1, format="knockout")
    await hold(store, "running", "ada bob", over=False)
    await ContestJournal(store).create(document_from({"name": "draft", "game": "bumblebots"}), "o")
    lists: dict[str, str] = {
        "over": "ended early, done", "playing": "running", "coming": "draft", "current": "running",
    }  # fmt: skip
    for state, expected in lists.items():
        found = (await get(http, "contest-documents", state=state))["contests"]
        assert ", ".join(one["name"] for one in found) == expected
    assert (await get(http, "contest-documents", game=GAME))["total"] == 3
    over = (await get(http, "contest-documents", state="over"))["contests"]
    assert [(one["title"], one["champions"]) for one in over] == [
        ("ended early", []), ("The Done Cup", ["ada"]),
    ]  # fmt: skip
    assert (await get(http, "contest-titles"))["contests"] == [
        {"game": GAME, "name": "done", "title": "The Done Cup"}
    ]


async def test_a_contest_with_a_document_is_left_out_where_it_would_appear_twice(
    http: httpx.AsyncClient, store: Store
) -> None:
    await hold(store, "cup", "ada bob")
    for name in ("cup", "mug"):
        await play(store, name, "ada bob", (1, 2), contest=name)
    assert [one["name"] for one in (await get(http, "contests", sort="name"))["contests"]] == [
        "cup", "mug",
    ]  # fmt: skip
    plain = await get(http, "contests", document="no", game=GAME)
    assert ([one["name"] for one in plain["contests"]], plain["total"]) == (["mug"], 1)


@pytest.mark.parametrize("most", [3, 100])
async def test_groups_have_tables_and_then_a_bracket(
    http: httpx.AsyncClient, store: Store, most: int
) -> None:
    await hold(store, "cup", "a b c d e f", most, over=most > 3, format="groups", groups=2)
    shown = await get(http, "contest-documents/cup", fixtures="none")
    assert [[line["bot"] for line in table] for table in shown["groups"]] == [
        ["a", "d", "e"], ["b", "c", "f"],
    ]  # fmt: skip
    bracket = await get(http, "contest-brackets/cup")
    assert shown["champions"] == (["a"] if most > 3 else [])
    assert [(one["bots"], one["winner"], one["place"]["slots"]) for one in bracket["meetings"]] == (
        [(["a", "c"], "a", 2), (["b", "d"], "b", 2), (["a", "b"], "a", 1)] if most > 3 else []
    )


async def test_a_bracket_names_byes_and_links_to_matches(
    http: httpx.AsyncClient, store: Store
) -> None:
    await hold(store, "cup", "a b c", format="knockout")
    bracket = await get(http, "contest-brackets/cup")
    assert bracket["format"] == "knockout"
    assert bracket["byes"] == [
        {"bot": "a", "round": 1, "place": {"side": "winners", "slot": 0, "slots": 2}}
    ]
    assert [one["games"][0]["result"]["match"] for one in bracket["meetings"]] == [
        "cup 1.1.1", "cup 2.1.1",
    ]  # fmt: skip
    await hold(
        store, "large", " ".join(f"b{number}" for number in range(129)), 0, format="knockout"
    )
    assert (await get(http, "contest-brackets/large"))["meetings"] == []
    assert (await http.get("/api/v1/contest-brackets/none")).status_code == 404


async def test_a_crosstable_counts_the_results_that_count(
    http: httpx.AsyncClient, store: Store
) -> None:
    """The match of the store was annulled: only its repetition is in the contest."""
    await play(store, "annulled", "bob ada", (1, 2), contest="cup")
    await hold(store, "cup", "ada bob cid", format="double-elimination")
    table = await get(http, f"crosstables/{GAME}/cup")
    assert (table["bots"], table["rows"][0]) == (
        ["ada", "bob", "cid"], [None, [2, 0, 0], None],
    )  # fmt: skip


async def csv(http: httpx.AsyncClient, contest: str, **query: str) -> list[str]:
    answer = await http.get(f"/api/v1/contest-results/{GAME}/{contest}", params=query)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    return answer.text.splitlines()


async def test_results_are_tables(http: httpx.AsyncClient, store: Store) -> None:
    progress = await hold(store, "cup", "ada =1+1", games=2)
    assert await csv(http, "cup") == [
        "place,bot,wins,draws,losses,played,score,note",
        "1,ada,2,0,0,2,2.0,",
        "2,'=1+1,0,0,2,2,0.0,",
    ]
    assert len(progress.results) == 2
    matches = await csv(http, "cup", table="matches")
    assert matches[0] == "round,meeting,game,match,seat,bot,place,fault"
    assert matches[1:3] == ["1,1,1,cup 1.1.1,0,'=1+1,2,", "1,1,1,cup 1.1.1,1,ada,1,"]
    assert len(matches) == 5


async def test_results_of_a_contest_without_a_document_are_tables_too(
    http: httpx.AsyncClient, store: Store
) -> None:
    await play(store, "m", "ada bob", (1, 2), contest="mug")
    assert (await csv(http, "mug"))[1:] == ["1,ada,1,0,0,1,3,", "2,bob,0,0,1,1,0,"]
    assert (await csv(http, "mug", table="matches"))[1:] == [",,,m,0,ada,1,", ",,,m,1,bob,2,"]
    gone = await http.get(f"/api/v1/contest-results/{GAME}/none")
    assert gone.status_code == 404


async def test_all_matches_are_read_a_page_at_a_time_without_large_offsets(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contests, "LONGEST_LIST", 2)
    starts = (0, 1, 1, 2, 3, 3, 3, 3, 3, 4, 5, 6, 7)
    for number, start in enumerate(starts):
        await play(store, str(number), "ada bob", (1, 2), contest="mug", started=NOON + start)
    offsets: list[int] = []
    read = store.matches

    async def matches(wanted: Wanted) -> list[MatchEntry]:
        offsets.append(wanted.offset)
        return await read(wanted)

    monkeypatch.setattr(store, "matches", matches)
    found = [one.match async for _, _, one in contests._results(store, GAME, "mug", None)]
    assert found == [str(number) for number in range(len(starts))]
    assert max(offsets) == 4, "only matches that started together are counted"


async def test_a_forfeit_is_in_the_results(http: httpx.AsyncClient, store: Store) -> None:
    await hold(store, "cup", "ada bob", most=0, over=False)
    absent = FixtureResult((1, 2), absent=(1,))
    await store.keep([ContestResult("cup", "1.1.1", absent)])
    lines = (await csv(http, "cup", table="matches"))[1:]
    assert [line.rpartition(",")[2] for line in lines] == ["", "no-show"]
