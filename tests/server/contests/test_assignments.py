"""Assignments: contests of a class, with the versions of their deadline. The runner is a client of
REST alone.
"""

import csv
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from io import BytesIO, StringIO
from pathlib import Path
from time import time
from typing import Any
from zipfile import ZipFile

import httpx
import pytest

from botdrome.contest.document import document_from
from botdrome.server.lobby import hosting
from botdrome.store.contest_journal import ContestRefusal
from botdrome.store.entries import Wanted
from tests.kit.hosted import FIRST_FREE, Author
from tests.patience import until
from tests.server.clients import PATIENCE, bot
from tests.server.lobby.test_classes import NAME, NOUGHTS, School, school
from tests.server.lobby.test_hosting import TestRunner, ask, login, refusal
from tests.server.operator.clients import TOKEN

pytestmark = pytest.mark.anyio
DEADLINE = int(time()) + 86_400
ASSIGNMENT: dict[str, Any] = {
    "name": "cup",
    "game": NOUGHTS,
    "format": "gauntlet",
    "games": 2,
    "entry": {"kind": "class", "class": NAME},
    "penalties": {"no_show": "wait"},
    "entrants": [{"bot": "house:random"}],
    "grades": [{"name": "A", "against": "house:random", "score": 0.5}],
}


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A beat without news returns at once."""
    monkeypatch.setattr(hosting, "PATIENCE", 0.0)


class Course:
    """A class with an assignment, a runner, and a clock that the test holds."""

    def __init__(self, one: School, runner: TestRunner) -> None:
        self.school, self.runner, self.house = one, runner, one.house
        self.tokens = dict[str, str]()
        self.at(-10)

    def at(self, seconds: float) -> None:
        """It is so many seconds after the deadline."""
        self.house.arena.hosting.clock = self.house.contests.clock = lambda: DEADLINE + seconds
        if stored := self.house.contests["cup"]:
            self.house.contests.moments.watch(stored.entry)

    async def assign(self, **changes: Any) -> None:
        document = document_from(ASSIGNMENT | {"start": _moment(DEADLINE)} | changes)
        await self.house.contests.create(document, "operator")
        await self.house.contests.act("cup", "open", "operator")

    async def author(self, name: str, participant: str = "Ada") -> Author:
        if participant not in self.tokens:
            self.tokens[participant] = await self.school.joined(participant)
        answer = await self.school.register(name, self.tokens[participant])
        return Author(self.house, name, answer.json()["password"])

    async def accepted(self, author: Author, version: str) -> None:
        await author.push(f"{FIRST_FREE}# {version}", version)
        await self.report()

    async def report(self) -> None:
        """The check of the version that waits accepts it."""
        given = (await self.runner.beat(1, 0))["given"]
        body = {"accepted": True, "report": "fine"}
        await ask(self.house, "POST", "runner/reports", given[0]["credential"], body)

    async def until_state(self, state: str) -> None:
        await until(lambda: self.house.contests.known("cup").entry.state == state)

    async def leases(self) -> list[tuple[str, str, str]]:
        """The bots that the runner gets now: their names, versions and contests."""
        self.runner.held.clear()
        given = (await self.runner.beat(0, 9))["given"]
        self.credentials = {one["bot"]: one["credential"] for one in given}
        return sorted((one["bot"], one["version"], one["contest"]) for one in given)

    async def grades(self) -> list[dict[str, str]]:
        answer = await self.school.operator.ask("GET", "/class-grades/cup")
        return list(csv.DictReader(StringIO(answer.text)))


def _moment(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Course]:
    async with school(folder, hosting_uploads="invited") as one:
        yield Course(one, await TestRunner.new(one.house, token=TOKEN))


@pytest.fixture
async def course(tmp_path: Path) -> AsyncIterator[Course]:
    async with opened(tmp_path) as one:
        yield one


async def test_the_versions_of_the_deadline_play_and_later_ones_wait(course: Course) -> None:
    await course.assign()
    ada = await course.author("ada")
    await course.accepted(ada, "first")
    assert await course.leases() == [("ada", "first", "")]
    course.at(+10)
    await course.accepted(ada, "late")
    await course.until_state("running")
    assert await course.leases() == [("ada", "first", "cup")]
    assert course.house.contests.known("cup").entrants[1].version == "first"
    assert "ada is hosted here" in await refusal(course.house, ada.token)
    answer = await ada.ask("DELETE", json={"number": 1})
    assert "plays in the contest 'cup'" in answer.json()["error"]
    await ada.ask("PUT", json={"paused": True})
    wish = login(course.credentials["ada"]) | {"contest": "cup", "version": "first"}
    async with bot(course.house, wish) as one:
        assert (await one.receive())["state"]["bots"] == ["ada", "house:random"]
        await ada.ask("PUT", json={"paused": False})
        (lease,) = course.runner.held
        assert (await course.runner.beat())["ending"] == []
        await course.house.contests.act("cup", "end", "operator")
        assert (await course.runner.beat(0, 0))["ending"] == [lease]
    assert await course.leases() == [("ada", "late", "")]


async def test_a_contest_that_goes_on_has_its_versions_again(course: Course) -> None:
    await course.assign()
    await course.accepted(await course.author("ada"), "first")
    course.at(0)
    await course.until_state("running")
    await course.house.contests.act("cup", "end", "operator")
    assert await course.leases() == [("ada", "first", "")]
    await course.house.contests.journal.change_state("cup", "running", "operator")
    assert await course.leases() == [("ada", "first", "cup")]


async def test_a_match_that_a_runner_leaves_is_played_again_and_the_third_counts(
    course: Course,
) -> None:
    await course.assign(games=1)
    await course.accepted(await course.author("ada"), "first")
    course.at(0)
    await course.until_state("running")
    journal, store = course.house.contests.journal, course.house.arena.store
    for _ in range(3):
        assert await course.leases() == [("ada", "first", "cup")]
        wish = login(course.credentials["ada"]) | {"contest": "cup", "version": "first"}
        async with bot(course.house, wish) as one:
            await one.receive()  # the match has begun
    await course.until_state("over")
    stored = await journal.load("cup")
    again = [line.detail for line in stored.log if line.action == "played again"]
    matches = await store.matches(Wanted(contest="cup", oldest_first=True))
    assert again == [
        f"1.1.1: a runner was lost or stopped in match {one.id}" for one in matches[:2]
    ]
    assert len({one.seed for one in matches}) == 1
    assert {one.result.causes for one in matches if one.result} == {("disconnect", "complete")}
    ((_, result),) = stored.results.items()
    assert (result.match, result.places) == (matches[2].id, (2, 1))


async def test_a_contest_may_demand_a_class_of_runners(course: Course) -> None:
    await course.assign(entry=ASSIGNMENT["entry"] | {"runner_class": "big"})
    await course.accepted(await course.author("ada"), "first")
    await course.accepted(await course.author("other", "Bob"), "first")
    assert len(await course.leases()) == 2, "any runner has them before the start"
    course.at(0)
    await course.until_state("running")
    assert sorted((await course.runner.beat(0, 9))["ending"]) == sorted(course.runner.held)
    assert await course.leases() == [], "a runner of another class gets none"
    course.runner.class_name = "big"
    assert await course.leases() == [("ada", "first", "cup"), ("other", "first", "cup")]


async def test_uploads_that_wait_for_their_check_at_the_deadline_count(course: Course) -> None:
    await course.assign()
    ada = await course.author("ada")
    await course.accepted(ada, "first")
    await ada.push(version="second")
    course.at(0)
    await until(lambda: course.house.contests.known("cup").entry.why)
    why = course.house.contests.known("cup").entry.why
    assert why == "it cannot start yet: 1 upload of the class must be checked first"
    await course.report()
    await course.until_state("running")
    assert await course.leases() == [("ada", "second", "cup")]
    assert course.house.contests.known("cup").entry.why == ""


async def test_of_each_participant_the_bots_uploaded_latest_play(course: Course) -> None:
    await course.assign(entry=ASSIGNMENT["entry"] | {"per_owner": 1})
    authors = {}
    for second, (name, participant) in enumerate(
        [("ada-1", "Ada"), ("ada-2", "Ada"), ("bob", "Bob"), ("cy", "Cyd")]
    ):
        course.at(second - 9)
        authors[name] = await course.author(name, participant)
        await course.accepted(authors[name], name)
    course.at(-1)
    await course.accepted(authors["ada-1"], "new")
    await course.author("dan", "Dan")
    course.at(1)
    await course.until_state("running")
    frozen = await course.house.arena.store.uploads.frozen("cup")
    assert [(one.bot, one.version) for one in frozen] == [
        ("ada-1", "new"), ("bob", "bob"), ("cy", "cy"),
    ]  # fmt: skip


async def test_nobody_enters_by_a_login_or_without_a_class(course: Course) -> None:
    await course.assign()
    ada = await course.author("ada")
    entry = await course.house.arena.store.bot("ada")
    assert entry is not None
    with pytest.raises(ContestRefusal, match="enter by their uploads"):
        await course.house.contests.enter("cup", entry, "ada")
    with pytest.raises(ContestRefusal, match="1 entrant"):
        await course.house.contests.act("cup", "start", "operator")
    other = {"kind": "class", "class": "no such"}
    await course.house.contests.change(
        "cup", document_from(ASSIGNMENT | {"entry": other}), "operator"
    )
    with pytest.raises(ContestRefusal, match="there is no class 'no such'"):
        await course.house.contests.act("cup", "start", "operator")
    assert ada.token


async def test_the_uploads_for_an_assignment_are_limited(course: Course) -> None:
    await course.assign(entry=ASSIGNMENT["entry"] | {"uploads": 2})
    one, two = await course.author("ada-1"), await course.author("ada-2")
    await one.push()
    await two.push()
    answer = await one.ask("POST", content=b"")
    assert "at most 2 versions may be uploaded for the contest 'cup'" in answer.json()["error"]
    await (await course.author("bob", "Bob")).push()


async def test_hidden_parts_are_shown_from_the_start(course: Course) -> None:
    await course.assign(entrants=[], grades=[])
    document = ASSIGNMENT | {"hidden": ["entrants"], "start": _moment(DEADLINE)}
    await course.house.contests.change("cup", document_from(document), "operator")
    await course.accepted(await course.author("ada"), "first")
    url = f"{course.house.url}/api/v1"
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as web:
        shown = (await web.get("contest-documents/cup")).text
        assert "house:random" not in shown and '"hidden"' in shown
        with pytest.raises(ContestRefusal, match="hidden: the start would show this before"):
            await course.house.contests.act("cup", "start", "operator")
        course.at(0)
        await course.until_state("running")
        shown = (await web.get("contest-documents/cup")).json()
        assert [one["name"] for one in shown["entrants"]] == ["house:random", "ada"]


async def test_the_organiser_gets_the_grades_and_the_uploads(course: Course) -> None:
    await course.assign()
    await course.accepted(await course.author("ada"), "first")
    bob = await course.author("bob/1", "Bob")
    assert bob.token
    shown = await course.school.shown()
    assert [one["uploaded"] for one in shown["participants"]] == [["ada"], []]
    assert [one["participant"] for one in await course.grades()] == ["Ada", "Bob"]
    course.at(0)
    await course.until_state("running")
    ada, bob_ = await course.grades()
    assert (ada["bot"], ada["version"], ada["grade"], bob_["bot"]) == ("ada", "first", "", "")
    answer = await course.school.operator.ask("GET", "/class-uploads/cup")
    with ZipFile(BytesIO(answer.content)) as archive:
        (name,) = archive.namelist()
        with ZipFile(archive.open(name)) as inner:
            assert (name, inner.namelist()) == ("Ada/ada.zip", ["bot.py"])
    await course.house.contests.create(
        document_from({"name": "other", "game": NOUGHTS}), "operator"
    )
    for path in ("/class-grades/other", "/class-uploads/no such"):
        assert (await course.school.operator.refused("GET", path))[0] == 404
    async with httpx.AsyncClient(base_url=f"{course.house.url}/api/v1") as web:
        assert (await web.get("operator/class-uploads/cup")).status_code == 401


async def test_an_owner_token_opens_the_uploads_of_its_own_bots_alone(course: Course) -> None:
    ada, bob = await course.author("ada"), await course.author("bob", "Bob")
    owner = course.tokens["Ada"]
    own = Author(course.house, "ada", owner)
    assert await own.push(version="1") == 1
    assert [one["version"] for one in await ada.uploads()] == ["1"]
    assert (await own.ask("PUT", json={"paused": True})).status_code == 409
    assert (await own.ask("GET", "upload-logs")).status_code == 200
    for method, path in (("GET", "uploads"), ("POST", "uploads"), ("GET", "upload-logs")):
        assert (await bob.ask(method, path, owner, content=b"x")).status_code == 403
    await course.school.order("remove", participant="Ada")
    assert (await own.ask("GET")).status_code == 403


async def test_of_a_removed_participant_no_archive_and_no_log_remains(course: Course) -> None:
    await course.assign()
    for name, participant in (("ada", "Ada"), ("bob", "Bob")):
        await course.accepted(await course.author(name, participant), "same")
    await course.leases()
    for name, credential in course.credentials.items():
        body = {"match": f"m{name}", "fault": "", "log": "mine"}
        await ask(course.house, "POST", "runner/logs", credential, body)
    course.at(0)
    await course.until_state("running")
    await course.school.order("remove", participant="Ada")
    fetch = course.house.arena.store.uploads._fetch
    for query, left in (
        ("SELECT count(*) FROM archives", 1),
        ("SELECT count(*) FROM bot_logs", 1),
        ("SELECT count(*) FROM frozen", 1),
        ("SELECT count(*) FROM uploads WHERE state <> 'deleted' OR report <> ''", 1),
    ):
        assert (await fetch(query, {}))[0][0] == left, query
    assert await course.leases() == [("bob", "same", "cup")]
    await course.school.order("remove", participant="Bob")
    assert (await fetch("SELECT count(*) FROM archives", {}))[0][0] == 0
    assert [one["participant"] for one in await course.grades()] == []
