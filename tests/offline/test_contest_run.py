"""A contest that runs offline: matches in the store, faults, withdrawals, pauses, changed bots and
changed documents.
"""

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Literal

import pytest
from msgspec.structs import replace

from botdrome.catalogue import CATALOGUE
from botdrome.contest.document import (
    BadDocument,
    ClockRules,
    ContestDocument,
    EntryRules,
    OfflineEntrant,
    Penalties,
)
from botdrome.contest.formats.format import Fixture
from botdrome.contest.progress import ContestProgress, fixture_result
from botdrome.match.record import read, verify
from botdrome.match.terms import Bank
from botdrome.offline import contest_run
from botdrome.offline.batches import Batches
from botdrome.offline.contest_run import ContestRun, contest_plan, open_contest
from botdrome.offline.tournament import UnplayedMatch, play_fixture
from botdrome.store.changes import change_rows
from botdrome.store.contest_journal import ContestJournal, ContestRefusal
from botdrome.store.entries import ContestResult, Wanted
from botdrome.store.store import Store
from tests.offline.contests import (
    FAILING,
    FIRST,
    HERE,
    PlayHere,
    a_document,
    in_store,
    run,
    run_in,
    standings_of,
    stored,
    withdrawing,
)

pytestmark = pytest.mark.anyio

HOUSE = ("house:random", "house:perfect", "house:random")


async def test_its_matches_are_stored_with_records_as_on_a_server(tmp_path: Path) -> None:
    assert await run(tmp_path, a_document(*HOUSE)) == ""
    contest = await stored(tmp_path)
    assert contest.entry.state == "over" and len(contest.results) == 6
    assert standings_of(contest)[0].entrant == 1

    async def looked_at(store: Store) -> None:
        matches = await store.matches(Wanted(contest="cup", status="ended"))
        assert {match.id for match in matches} == {
            result.match for result in contest.results.values()
        }
        for match in matches:
            record = read(await store.record(match.id) or b"")
            verify(record, CATALOGUE[match.game].game)
            assert (record.result, record.setup.seed, record.setup.names) == (
                match.result,
                match.seed,
                match.players,
            )

    await in_store(tmp_path, looked_at)
    assert [line.action for line in contest.log] == ["created", "running", "over"]
    assert await run(tmp_path, a_document(*HOUSE)) == ""
    assert len((await stored(tmp_path)).log) == 3


async def test_a_bot_with_too_many_faults_is_withdrawn_and_forfeits_the_rest(
    tmp_path: Path,
) -> None:
    (tmp_path / "bad.py").write_text(FAILING)
    document = a_document(*HOUSE, str(tmp_path / "bad.py"), penalties=withdrawing(2))
    assert await run(tmp_path, document) == ""
    contest = await stored(tmp_path)
    assert len(contest.results) == 12
    crashed = [key for key, result in contest.results.items() if result.crashed]
    absent = [key for key, result in contest.results.items() if result.absent]
    assert (len(crashed), len(absent)) == (2, 4)
    assert ("arena", "withdrawn", "bot 4: 2 no-shows and crashes") in [
        (x.author, x.action, x.detail) for x in contest.log
    ]
    last = standings_of(contest)[-1]
    assert (last.entrant, last.crashes, last.no_shows, last.score) == (3, 2, 4, 0)


class LatestFirst(PlayHere):
    """Like several workers that finish in the opposite order."""

    workers = 4

    def __init__(self) -> None:
        self._waiting: list[tuple[Future[Any], Any]] = []

    def submit(self, work: Any, /, *args: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._waiting.append((future, work(*args)))
        asyncio.get_running_loop().call_soon(self._finish_latest)
        return future

    def _finish_latest(self) -> None:
        future, played = self._waiting.pop()
        future.set_result(played)


async def test_withdrawals_do_not_depend_on_the_order_in_which_matches_end(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(FAILING)
    document = a_document(str(tmp_path / "bad.py"), *HOUSE, games=4, penalties=withdrawing(3))
    found = []
    for pool in (PlayHere(), LatestFirst()):
        folder = tmp_path / type(pool).__name__
        await run(folder, document, pool=pool)
        contest = await stored(folder)
        found.append({key: replace(result, match="") for key, result in contest.results.items()})
    assert found[0] == found[1] and sum(bool(result.absent) for result in found[0].values()) == 9


async def test_without_enough_bots_it_waits_for_the_organiser(tmp_path: Path) -> None:
    with pytest.raises(ContestRefusal, match="1 entrant cannot fill a table of 2"):
        await run(tmp_path, a_document("house:random"))
    (tmp_path / "bad.py").write_text(FIRST)
    document = a_document("house:random", str(tmp_path / "bad.py"), games=4)
    with pytest.raises(RuntimeError, match="stop"):
        await run(tmp_path, document, watch=stop_after(2))
    (tmp_path / "bad.py").unlink()
    with pytest.raises(
        ContestRefusal, match=r"bot 2 cannot start: .*bad.py: the file cannot be read"
    ):
        await run(tmp_path, document)
    entry = (await stored(tmp_path)).entry
    assert entry.state == "paused" and "cannot start" in entry.why
    (tmp_path / "bad.py").write_text(FIRST)
    assert await run(tmp_path, document) == ""
    assert len((await stored(tmp_path)).results) == 4


def stop_after(matches: int) -> Callable[[ContestRun], None]:
    def watch(run: ContestRun) -> None:
        if len(run.progress.results) >= matches:
            raise RuntimeError("stop")

    return watch


@pytest.mark.parametrize(("no_show", "places"), [("forfeit", [1, 2]), ("skip", [])])
async def test_a_program_that_vanishes_is_a_no_show(
    tmp_path: Path, no_show: Literal["forfeit", "skip"], places: object
) -> None:
    assert await run_without_program(tmp_path, Penalties(no_show=no_show)) == ""
    result = (await stored(tmp_path)).results["1.1.1"]
    assert sorted(result.places) == places and len(result.absent) == 1


async def test_a_contest_may_wait_for_a_program_that_vanishes(tmp_path: Path) -> None:
    why = await run_without_program(tmp_path, Penalties(no_show="wait"))
    entry = (await stored(tmp_path)).entry
    assert (entry.state, entry.why) == ("paused", why) and "there is no program" in why


async def run_without_program(folder: Path, penalties: Penalties) -> str:
    program = folder / "player"
    program.write_text("#!/bin/sh\ncat\n")
    program.chmod(0o755)
    document = a_document("house:random", f"cmd:{program}", games=1, penalties=penalties)
    return await run(folder, document, watch=lambda _: program.unlink(missing_ok=True))


async def test_it_pauses_between_matches_until_it_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contest_run, "POLL", 0)
    counts: list[int] = []

    async def paused_and_resumed(store: Store) -> str:
        journal, tasks = ContestJournal(store), set[asyncio.Task[None]]()
        held: list[tuple[Future[Any], Any]] = []

        class Pausing(PlayHere):
            """Ends the third and the fourth match when the contest is paused."""

            def submit(self, work: Any, /, *args: Any, **_: Any) -> Future[Any]:
                played = super().submit(work, *args)
                if args[0][0].key not in ("1.2.1", "1.2.2"):
                    return played
                held.append((Future(), played.result()))
                if len(held) == 2:
                    tasks.add(asyncio.ensure_future(pause()))
                return held[-1][0]

        async def pause() -> None:
            await journal.change_state("cup", "paused", "olga")
            for future, result in held:
                future.set_result(result)

        def resume(run: ContestRun) -> None:
            if run.paused:
                counts.append(len(run.progress.results))
                if len(counts) == 3:
                    tasks.add(asyncio.ensure_future(journal.change_state("cup", "running", "olga")))

        return await run_in(store, a_document(*HOUSE), Pausing(), watch=resume)

    assert await in_store(tmp_path, paused_and_resumed) == ""
    assert len(counts) >= 3 and set(counts) == {4}
    assert [line.action for line in (await stored(tmp_path)).log] == [
        "created",
        "running",
        "paused",
        "running",
        "over",
    ]


async def test_the_webhook_of_a_document_is_for_servers_alone(tmp_path: Path) -> None:
    document = a_document(*HOUSE, webhook="https://example.org/secret")
    for _ in range(2):  # it is the same document when the contest is continued
        assert await run(tmp_path, document) == ""
    contest = await stored(tmp_path)
    assert contest.entry.document == replace(document, webhook="")
    assert [line.action for line in contest.log].count("changed") == 0


async def test_a_changed_document_is_refused_after_the_start(tmp_path: Path) -> None:
    document = a_document(*HOUSE)
    with pytest.raises(RuntimeError):
        await run(tmp_path, document, watch=stop_after(2))
    with pytest.raises(
        ContestRefusal,
        match="can be changed only before the start: games was null, is 4; undo the change",
    ):
        await run(tmp_path, replace(document, games=4))
    with pytest.raises(ContestRefusal, match="entrants was"):
        await run(tmp_path, a_document(*HOUSE, "house:random"))
    assert await run(tmp_path, document) == ""


@pytest.mark.parametrize("allowed", [False, True])
async def test_a_changed_bot_plays_on_only_if_the_document_allows_it(
    tmp_path: Path, allowed: bool
) -> None:
    bot = tmp_path / "first.py"
    bot.write_text(FIRST)
    document = a_document("house:random", str(bot), games=4, entry=EntryRules(versions=allowed))
    with pytest.raises(RuntimeError):
        await run(tmp_path, document, watch=stop_after(2))
    bot.write_text(FIRST + "# better\n")
    if allowed:
        assert await run(tmp_path, document) == ""
        assert "new version" in [line.action for line in (await stored(tmp_path)).log]
    else:
        with pytest.raises(
            ContestRefusal, match=r"bot 2 has changed since the contest started: version .*, now "
        ):
            await run(tmp_path, document)


async def test_late_bots_enter_where_the_document_allows_it(tmp_path: Path) -> None:
    late = EntryRules(late=True)
    assert await run(tmp_path, a_document(*HOUSE, entry=late)) == ""
    assert await run(tmp_path, a_document(*HOUSE, "house:random", entry=late)) == ""
    contest = await stored(tmp_path)
    assert contest.entry.state == "over" and len(contest.results) == 12


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (
            ContestDocument(name="cup", game="gomoku"),
            "entrants: a contest that runs offline names its bots",
        ),
        (
            ContestDocument(
                name="cup", game="gomoku", entrants=(OfflineEntrant(bot="a.py", name="x"),) * 2
            ),
            "entrants: two are called 'x'",
        ),
    ],
)
async def test_a_document_that_cannot_run_offline_is_refused(
    tmp_path: Path, document: ContestDocument, problem: str
) -> None:
    with pytest.raises(BadDocument, match=problem):
        await run(tmp_path, document)


async def test_its_matches_have_the_time_control_of_the_document(tmp_path: Path) -> None:
    document = a_document(*HOUSE[:2], clock=ClockRules(control="40/60+0.6"))
    assert await run(tmp_path, document) == ""

    async def looked_at(store: Store) -> None:
        for match in await store.matches(Wanted(contest="cup", status="ended")):
            record = read(await store.record(match.id) or b"")
            assert record.setup.terms.pace.bank == Bank(60_000, 600, 40)

    await in_store(tmp_path, looked_at)


async def test_a_contest_that_began_under_older_rules_goes_on_under_them(tmp_path: Path) -> None:
    document = a_document(*(["house:random"] * 6), format_="swiss", rounds=3, games=1)

    async def halfway(store: Store) -> None:
        contest = await open_contest(
            ContestJournal(store), replace(document, pairing=1), "olga", HERE
        )
        query = "SELECT name, game, state, created, entry FROM contests"
        ((*about, text),) = await store.fetch(query, {})
        entry = json.loads(text)
        del entry["document"]["pairing"], entry["document"]["bye"]  # as older versions stored it
        older = "contests", (*about, json.dumps(entry))
        await store.journal.enter(lambda: change_rows([older], "notes", ()))
        plan = contest_plan(document, contest.entrants, HERE)
        progress = ContestProgress(contest.entry.document, contest.entrants, {})
        await ContestJournal(store).change_state("cup", "running", "olga")
        for fixture in progress.rounds[0].fixtures:
            result = fixture_result(play_fixture(plan, fixture).result, "")
            await store.keep([ContestResult("cup", fixture.key, result)])

    await in_store(tmp_path, halfway)
    assert await run(tmp_path, document) == ""
    contest = await stored(tmp_path)
    assert (contest.entry.document.pairing, contest.entry.state, len(contest.results)) == (
        1,
        "over",
        9,
    )
    expected = ContestProgress(replace(document, pairing=1), contest.entrants, contest.results)
    assert expected.over, "all results belong to pairs of the older rules"
    assert await run(tmp_path, document) == "", "the same file is no change of the document"


async def test_a_result_that_a_withdrawal_has_decided_meanwhile_is_forgotten(
    tmp_path: Path,
) -> None:
    """Kept results would count as played ahead, and nothing more would be handed out."""

    async def taken_in(store: Store) -> None:
        document = a_document(*HOUSE, penalties=withdrawing(2))
        contest = await open_contest(ContestJournal(store), document, "olga", HERE)
        matches: Batches[Any, Any] = Batches(PlayHere(), lambda _: ([], 0.0), lambda: 1, most=1)
        run = ContestRun(store, contest, matches, "olga")
        key = next(iter(run.progress.open))
        decided = Fixture("99.1.1", (0, 1), 5)
        run._taken |= {decided.key, key}
        await run._take_in([UnplayedMatch(decided, "a bot crashed")])
        assert not run._ready and run._taken == {key}

    await in_store(tmp_path, taken_in)
