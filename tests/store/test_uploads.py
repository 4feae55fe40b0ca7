"""Uploaded versions: their states, the leases of runners, and their logs, on every database."""

from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from botdrome.contest.document import document_from
from botdrome.store import uploads
from botdrome.store.contest_journal import ContestJournal, ContestState
from botdrome.store.entries import BotEntry, ClassEntry, Participant, RefusedUpload, Wanted
from botdrome.store.store import Store, keep_archive
from botdrome.store.uploads import (
    DAY,
    KEPT_LOGS,
    MOST_ATTEMPTS,
    HostedLog,
    LeaseChanges,
    UploadLimit,
)
from tests.store.entries import a_match, an_end, play

pytestmark = pytest.mark.anyio
NOW = 1_000_000_000_000
LATER = NOW + 10_000


async def enter(store: Store, plan: Any, *values: Any) -> Any:
    return await store.journal.enter(partial(plan, *values))


async def bot(store: Store, name: str = "ada", owner: str = "") -> str:
    await store.register(BotEntry(name, "gomoku", owner, 1, "hash of its token"))
    return name


def limited(most: int, now: int = NOW) -> list[UploadLimit]:
    return [UploadLimit(most, now - DAY, "within 24 hours")]


async def add(store: Store, name: str, now: int = NOW, most: int = 10) -> int:
    await keep_archive(store.source, "digest", b"abc")
    number = await enter(
        store, uploads.add_upload, name, "v", ("digest", 3), now, limited(most, now)
    )
    assert isinstance(number, int)
    return number


async def beat(
    store: Store,
    runner: str = "one",
    held: tuple[str, ...] = (),
    now: int = NOW,
    checks: tuple[str, ...] = (),
    bots: tuple[str, ...] = (),
) -> LeaseChanges:
    found = await enter(
        store, uploads.beat, runner, list(held), now, now + 10_000, (list(checks), list(bots))
    )
    assert isinstance(found, LeaseChanges)
    return found


async def accepted(store: Store, name: str, lease: str = "c") -> int:
    number = await add(store, name)
    assert (await beat(store, "checker", checks=(lease,))).given[0].number == number
    await enter(store, uploads.report, lease, True, "fine", NOW)
    return number


async def hosted(store: Store, name: str) -> str | None:
    found = await store.bot(name)
    assert found is not None
    return found.hosted


async def states(store: Store, name: str) -> list[tuple[int, str, bool]]:
    return [(one.number, one.state, one.active) for one in await store.uploads.of_bot(name)]


async def test_a_version_is_checked_accepted_and_played(store: Store) -> None:
    ada = await bot(store)
    assert await add(store, ada) == 1
    (given,) = (await beat(store, checks=("c",), bots=("p",))).given
    assert (given.bot, given.number, given.state, given.lease) == ("ada", 1, "waiting", "c")
    assert await hosted(store, ada) is None, "a check is no login"
    assert (await beat(store, "two", checks=("x",))).given == [], "each lease is given once"
    await enter(store, uploads.report, "c", True, "fine", NOW)
    assert await states(store, ada) == [(1, "accepted", True)]
    assert await hosted(store, ada) == ""
    (given,) = (await beat(store, bots=("p",))).given
    assert given.lease == "p" and given.runner == "one"
    assert await hosted(store, ada) == "p"
    assert await store.uploads.leases() == {"one": 1}
    kept = (await beat(store, held=("p",))).kept
    assert kept == {"p": False}


async def test_a_rejected_version_never_plays_and_the_earlier_one_goes_on(store: Store) -> None:
    ada = await bot(store)
    await accepted(store, ada)
    await add(store, ada)
    await beat(store, checks=("c",))
    await enter(store, uploads.report, "c", False, "it crashed", NOW)
    assert await states(store, ada) == [(2, "rejected", False), (1, "accepted", True)]
    with pytest.raises(RefusedUpload, match="version 2 was not accepted; accepted: 1"):
        await enter(store, uploads.activate, ada, 2)


async def test_a_late_report_of_an_older_version_does_not_replace_a_newer_one(
    store: Store,
) -> None:
    ada = await bot(store)
    await add(store, ada)
    await add(store, ada)
    await beat(store, checks=("c", "d"))
    await enter(store, uploads.report, "d", True, "", NOW)
    await enter(store, uploads.report, "c", True, "", NOW)
    assert await states(store, ada) == [(2, "accepted", True), (1, "accepted", False)]


async def test_a_lease_that_is_not_renewed_ends_and_the_work_is_given_again(store: Store) -> None:
    ada = await bot(store)
    await accepted(store, ada)
    await beat(store, bots=("p",))
    assert (await store.uploads.leased("p", NOW)) is not None
    assert (await store.uploads.leased("p", LATER)) is None, "before anybody looks"
    with pytest.raises(RefusedUpload, match="the lease has ended"):
        await enter(store, uploads.pause_leased, "p", "it failed", LATER)
    found = await beat(store, "two", now=LATER + 1, bots=("q",))
    assert (found.ended, [one.lease for one in found.given]) == (["ada"], ["q"])
    assert await hosted(store, ada) == "q"
    found = await beat(store, "one", held=("p",), now=LATER + 2)
    assert found.kept == {}, "the first runner has lost it"


async def test_leases_that_a_runner_no_longer_names_end(store: Store) -> None:
    ada = await bot(store)
    await accepted(store, ada)
    await beat(store, bots=("p",))
    assert (await beat(store, "one")).ended == ["ada"]
    assert await hosted(store, ada) == ""


async def test_matches_that_a_lost_runner_has_left_become_void(store: Store) -> None:
    """Others stay: those before its last sign of life, those that it has ended, those of others."""
    ada = await bot(store)
    await accepted(store, ada)
    await beat(store, bots=("p",))
    for name, ended in (("earlier", NOW - 1), ("told", NOW + 1), ("cut", NOW + 1)):
        cut = a_match(name, ("bob", "ada"), NOW - 100)
        await play(store, cut, ended=ended)
    await play(store, a_match("won", ("ada", "bob"), NOW - 100), ended=NOW + 1)
    await play(store, a_match("cup", ("bob", "ada"), NOW, contest="cup"), ended=NOW + 1)
    await play(store, a_match("others", ("bob", "cid"), NOW), ended=NOW + 1)
    store.begin(a_match("runs", ("ada", "bob"), NOW))
    await enter(store, uploads.add_log, ada, HostedLog("told", "v", NOW, "it crashed", ""))
    assert (await beat(store, held=("p",))).void == {}
    found = await beat(store, "two", now=LATER + 1)
    assert {name: sorted(ids) for name, ids in found.void.items()} == {
        "one": ["cup", "cut", "runs"]
    }
    await store.finish(an_end("runs"))
    void = {one.id: one.void for one in await store.matches(Wanted()) if one.void}
    assert void == dict.fromkeys(("cup", "cut", "runs"), "the runner of ada was lost or stopped")
    exported = b"".join([line async for line in store.export()]).decode()
    assert exported.count("the runner of ada was lost") == 3


async def test_another_version_plays_when_the_lease_of_the_first_was_given_back(
    store: Store,
) -> None:
    ada = await bot(store)
    await accepted(store, ada)
    await beat(store, bots=("p",))
    await accepted(store, ada, "c2")
    found = await beat(store, held=("p",), bots=("q",))
    assert (found.kept, found.given) == ({"p": True}, []), "the first plays its match to the end"
    assert await hosted(store, ada) == "p"
    (given,) = (await beat(store, bots=("q",))).given
    assert given.number == 2
    await enter(store, uploads.activate, ada, 1)
    assert (await beat(store, held=("q",))).kept == {"q": True}


async def test_a_paused_bot_is_not_hosted(store: Store) -> None:
    ada = await bot(store)
    await accepted(store, ada)
    await beat(store, bots=("p",))
    await enter(store, uploads.pause, ada, "by its author")
    assert (await beat(store, held=("p",), bots=("q",))).kept == {"p": True}
    assert await hosted(store, ada) == "p", "until its match is over"
    assert (await beat(store, bots=("q",))).given == []
    assert await hosted(store, ada) is None
    await enter(store, uploads.pause, ada, "")
    assert await hosted(store, ada) == ""
    await beat(store, bots=("r",))
    await enter(store, uploads.pause_leased, "r", "failed in 3 matches", NOW)
    assert [one.paused for one in await store.uploads.of_bot(ada)] == ["failed in 3 matches"]
    await bot(store, "bob")
    with pytest.raises(RefusedUpload, match="no version of bob plays"):
        await enter(store, uploads.pause, "bob", "")


async def test_a_check_that_ends_no_runner_s_lease_is_given_up(store: Store) -> None:
    ada, now = await bot(store), NOW
    await add(store, ada)
    for attempt in range(MOST_ATTEMPTS):
        assert len((await beat(store, now=now, checks=(f"c{attempt}",))).given) == 1
        now += 20_000
    assert (await beat(store, now=now, checks=("d",))).given == []
    (one,) = await store.uploads.of_bot(ada)
    assert (one.state, one.report) == ("rejected", "its check did not end on 3 runners")


async def test_uploads_of_an_owner_within_a_day_are_limited(store: Store) -> None:
    await store.classes.create(ClassEntry("maths", "maths", "secret", LATER, NOW))
    for name in ("lovelace", "byron"):
        await store.classes.join(Participant(f"token of {name}", "maths", name, NOW), 9)
    await store.classes.merge("maths", "byron", "lovelace")
    ada, eve = [await bot(store, name, "lovelace @ maths") for name in ("ada", "eve")]
    bob, cat = [await bot(store, name, "anybody") for name in ("bob", "cat")]
    await add(store, ada, most=2)
    await enter(store, uploads.delete_upload, ada, 1)
    await add(store, eve, most=2)
    with pytest.raises(RefusedUpload, match="at most 2 versions may be uploaded within 24 hours"):
        await add(store, ada, most=2)
    await add(store, bob, most=1)
    await add(store, cat, most=1)  # whoever writes the same owner
    assert await add(store, ada, NOW + DAY, most=2) == 2


async def test_the_versions_of_a_contest_play_until_it_is_over(store: Store) -> None:
    await store.classes.create(ClassEntry("maths", "maths", "secret", LATER, NOW))
    await store.classes.join(Participant("token", "maths", "lovelace", NOW), 9)
    await bot(store, "ada", "lovelace @ maths")
    await accepted(store, "ada")
    journal = ContestJournal(store)
    for name in ("one", "two"):
        await journal.create(document_from({"name": name, "game": "gomoku"}), "operator")
    of_game = UploadLimit(1, 0, "for it", "gomoku")
    assert await store.uploads.reached("ada", of_game)
    assert not await store.uploads.reached("ada", replace(of_game, game="bumblebots"))
    entry = uploads.Entry("one", "maths", "gomoku", NOW, None)
    assert await enter(store, uploads.freeze, replace(entry, deadline=NOW - 1)) == []
    for of_two in (replace(entry, contest="two"), entry):
        assert await enter(store, uploads.freeze, of_two) == ["ada"]
    number = await add(store, "ada", NOW + 1)
    with pytest.raises(RefusedUpload, match="1 upload of the class must be checked first"):
        await enter(store, uploads.freeze, replace(entry, deadline=NOW + 1))
    await beat(store, "checker", checks=("c",))
    await enter(store, uploads.report, "c", True, "fine", NOW)
    assert await store.uploads.accepted(["ada", "bob"]) == {"ada"}
    steps: list[tuple[dict[str, ContestState], str | None, int]] = [
        ({}, None, number),
        ({"one": "running", "two": "running"}, "one", 1),
        ({"one": "over"}, "two", 1),
        ({"two": "over"}, None, number),
    ]
    for changes, contest, version in steps:
        for changed, state in changes.items():
            await journal.change_state(changed, state, "operator")
        (given,) = (await beat(store, bots=("p",))).given
        assert (given.contest, given.number) == (contest, version)
        if contest is not None:
            await enter(store, uploads.pause, "ada", "its author is tired")
        assert (await beat(store, held=("p",))).kept == {"p": False}
        await enter(store, uploads.pause, "ada", "")
        assert (await beat(store)).ended == ["ada"]
    frozen = await store.uploads.frozen("one")
    assert [(one.bot, one.owner, one.number) for one in frozen] == [("ada", "lovelace @ maths", 1)]
    with pytest.raises(RefusedUpload, match="plays in the contest 'one', so it stays"):
        await enter(store, uploads.delete_upload, "ada", 1)


async def test_no_archive_remains_of_a_refused_version(store: Store) -> None:
    ada, values = await bot(store), ("v", ("new", 3), NOW, limited(1))
    await add(store, ada)
    await keep_archive(store.source, "new", b"new")
    with pytest.raises(RefusedUpload, match="within 24 hours"):
        await enter(store, uploads.add_upload, ada, *values)
    with pytest.raises(RefusedUpload, match="within 24 hours"):
        await add(store, ada, most=1)
    rows = await store.uploads._fetch("SELECT hash FROM archives", {})
    assert [row[0] for row in rows] == ["digest"], "the first version still has its own"
    with pytest.raises(RefusedUpload, match="upload it again"):
        await enter(store, uploads.add_upload, await bot(store, "bob"), *values)


async def test_a_deleted_version_is_gone_with_its_archive(store: Store) -> None:
    ada, eve = await bot(store, "ada"), await bot(store, "eve")
    await accepted(store, ada)
    await add(store, eve)
    await beat(store, checks=("c2",), bots=("p",))
    assert await store.uploads.archive("p", NOW) == await store.uploads.archive("c2", NOW) == b"abc"
    assert await store.uploads.archive("digest", NOW) is None, "a hash is no credential"
    assert await store.uploads.archive("p", LATER) is None
    await enter(store, uploads.delete_upload, ada, 1)
    assert await states(store, ada) == []
    assert await hosted(store, ada) is None
    assert await store.uploads.archive("c2", NOW) == b"abc", "another version has the same files"
    await enter(store, uploads.delete_upload, eve, 1)
    rows = await store.uploads._fetch("SELECT hash FROM archives", {})
    assert rows == []
    with pytest.raises(RefusedUpload, match="eve has no version 1"):
        await enter(store, uploads.delete_upload, eve, 1)
    with pytest.raises(RefusedUpload, match="the lease has ended"):
        await enter(store, uploads.report, "c2", True, "", NOW)


async def test_the_last_logs_of_a_bot_are_kept(store: Store) -> None:
    ada = await bot(store)
    for number in range(KEPT_LOGS + 5):
        log = HostedLog(f"m{number}", "v", NOW + number, "crash\0", "some\0text")
        await enter(store, uploads.add_log, ada, log)
    logs = await store.uploads.logs(ada)
    assert len(logs) == KEPT_LOGS
    assert logs[0] == HostedLog("m54", "v", NOW + 54, "crash\ufffd", "some\ufffdtext")
    assert await store.uploads.logs("bob") == []
