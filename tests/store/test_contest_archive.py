"""Archives of contests: the same bytes for the same contest, and no change that goes unnoticed."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import msgspec
import pytest

from botdrome.contest.document import EntryRules
from botdrome.store.contest_archive import ArchiveDifference, check_archive, write_archive
from botdrome.store.contest_journal import ContestJournal, ContestRefusal
from botdrome.store.store import Store
from tests.offline.contests import FAILING, a_document, in_store, run, withdrawing

pytestmark = pytest.mark.anyio

Members = dict[str, bytes]


@pytest.fixture
async def archive(tmp_path: Path) -> Path:
    """The archive of a contest with crashes, a withdrawal and forfeits."""
    (tmp_path / "bad.py").write_text(FAILING)
    document = a_document(
        "house:perfect", "house:random", str(tmp_path / "bad.py"), games=4, penalties=withdrawing(2)
    )
    assert await run(tmp_path, document) == ""
    await in_store(tmp_path, lambda store: write_archive(store, "cup", tmp_path / "cup.zip"))
    return tmp_path / "cup.zip"


async def test_an_archive_holds_and_is_always_the_same(archive: Path) -> None:
    seen: list[tuple[int, int]] = []
    manifest, contest = check_archive(archive, lambda done, total: seen.append((done, total)))
    assert (manifest.name, manifest.state, seen[-1]) == ("cup", "over", (12, 12))
    assert sum(bool(result.match) for result in contest.results.values()) == 6
    before = archive.read_bytes()
    assert await in_store(archive.parent, lambda store: write_archive(store, "cup", archive)) == 6
    assert archive.read_bytes() == before


def changed(archive: Path, change: Callable[[Members], None], sums: bool = True) -> Path:
    """An archive by someone who also corrects the checksums."""
    with ZipFile(archive) as old:
        members = {name: old.read(name) for name in old.namelist()}
    change(members)
    if sums:
        manifest = msgspec.json.decode(members["manifest.json"])
        files = {
            name: hashlib.sha256(data).hexdigest()
            for name, data in members.items()
            if name != "manifest.json"
        }
        members["manifest.json"] = msgspec.json.encode(manifest | {"files": files})
    target = archive.with_name("changed.zip")
    with ZipFile(target, "w", ZIP_DEFLATED) as new:
        for name, data in members.items():
            new.writestr(name, data)
    return target


def edited(name: str, edit: Callable[[Any], Any]) -> Callable[[Members], None]:
    """A change of a table."""

    def change(members: Members) -> None:
        table = msgspec.json.decode(members[name])
        members[name] = msgspec.json.encode(edit(table) or table)

    return change


def swap_records(members: Members) -> None:
    one, two = "matches/1.1.1.jsonl", "matches/1.1.3.jsonl"
    members[one], members[two] = members[two], members[one]


def change_record(members: Members) -> None:
    lines = members["matches/1.1.1.jsonl"].splitlines(keepends=True)
    text = b"".join(lines[:1] + lines[2:-1])
    members["matches/1.1.1.jsonl"] = (
        text + b'{"digest":"sha256:%s"}\n' % hashlib.sha256(text).hexdigest().encode()
    )


def lose_match(members: Members) -> None:
    del members["matches/1.1.2.jsonl"]


def forfeit(results: Any) -> None:
    results["1.1.1"] = {"places": [1, 3], "absent": [1]}


ATTACKS: dict[str, tuple[Callable[[Members], None], str]] = {
    "a record": (change_record, r"matches/1\.1\.1\.jsonl: line \d+: "),
    "the order of records": (swap_records, r"matches/1\.1\.1\.jsonl: the seed is"),
    "a missing match": (lose_match, "manifest.json: the match files is"),
    "a result": (
        edited("results.json", lambda r: r["1.1.1"].update(places=[1, 1])),
        r"the result of fixture 1\.1\.1 is",
    ),
    "a hidden crash": (
        edited("results.json", lambda r: r["1.2.1"].pop("crashed") and None),
        r"the result of fixture 1\.2\.1 is",
    ),
    "a missing result": (
        edited("results.json", lambda r: r.pop("1.1.4") and None),
        "fixture 1.1.4 has no result",
    ),
    "another result": (
        edited("results.json", lambda r: r.update({"9.9.9": {"places": [1, 2]}})),
        "no fixture 9.9.9",
    ),
    "an invented win": (
        edited("results.json", lambda r: r["1.3.4"].pop("absent") and None),
        "neither a match nor absent",
    ),
    "an absent winner": (edited("results.json", forfeit), "the match files is"),
    "the order of standings": (
        edited("standings.json", lambda s: s[::-1]),
        "standings.json: the line 1 is",
    ),
    "a lost line": (
        edited("standings.json", lambda s: s[:-1]),
        "number of lines is 2, and must be 3",
    ),
    "a rating": (
        edited("ratings.json", lambda r: r["bot 1"].update(rating=1900.0)),
        "the rating of bot 1 is 1900.0",
    ),
    "the seed": (
        edited("document.json", lambda d: d.update(seed=2)),
        r"matches/1\.1\.1\.jsonl: the seed is",
    ),
    "the time limit": (
        edited("document.json", lambda d: d["clock"].update(limit=9)),
        "the terms is",
    ),
    "the order of entrants": (
        edited("entrants.json", lambda e: e[::-1]),
        "matches/.*: the players is|no result|no fixture",
    ),
    "the game": (
        edited("document.json", lambda d: d.update(game="chess")),
        "document.json: game: there is no game 'chess'",
    ),
    "the version": (
        edited("manifest.json", lambda m: m.update(botdrome_contest=9)),
        "version 9 is not known",
    ),
    "the name": (edited("manifest.json", lambda m: m.update(name="mug")), "the name is 'mug'"),
    "no table": (lambda members: members.update({"log.json": b"{"}), "log.json: "),
    "a path": (
        lambda members: members.update({"../../evil": b""}),
        "'../../evil' does not belong into an archive",
    ),
    "a bomb": (
        lambda members: members.update({"matches/7.jsonl": bytes(60 << 20)}),
        "more than 200 times the archive",
    ),
    "a large file": (
        lambda members: members.update({"matches/7.jsonl": bytes((64 << 20) + 1)}),
        "at most 67108864 are allowed",
    ),
}


async def test_every_change_is_found(archive: Path) -> None:
    for name, (change, difference) in ATTACKS.items():
        with pytest.raises(ArchiveDifference, match=difference):
            check_archive(changed(archive, change))
            pytest.fail(f"{name}: not found")
    with pytest.raises(ArchiveDifference, match=r"its checksum is not that of manifest.json"):
        check_archive(changed(archive, change_record, sums=False))


async def test_files_that_are_no_archives_are_refused(archive: Path) -> None:
    target = archive.with_name("other.zip")
    target.write_bytes(archive.read_bytes()[:-300])
    with pytest.raises(ArchiveDifference, match="no archive that can be read"):
        check_archive(target)
    with ZipFile(target, "w"):
        pass
    with pytest.raises(ArchiveDifference, match=r"document.json is missing"):
        check_archive(target)
    with ZipFile(archive) as old, ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
        with pytest.warns(UserWarning, match="Duplicate name"):
            new.writestr("log.json", b"[]")
    with pytest.raises(ArchiveDifference, match=r"log.json is there twice"):
        check_archive(target)


async def test_a_secret_is_published_only_when_the_contest_is_over(tmp_path: Path) -> None:
    async def export(store: Store) -> None:
        await ContestJournal(store).create(
            a_document("house:random", "house:random"), "olga", secret="secret"
        )
        await write_archive(store, "cup", tmp_path / "cup.zip")

    with pytest.raises(
        ContestRefusal, match="until it is over, its archive would reveal hidden draws"
    ):
        await in_store(tmp_path, export)


async def test_the_archive_of_a_contest_with_a_password_holds_and_does_not_have_it(
    tmp_path: Path,
) -> None:
    document = a_document(
        "house:perfect", "house:random", entry=EntryRules(kind="password", password="autumn leaves")
    )
    assert await run(tmp_path, document) == ""
    archive = tmp_path / "cup.zip"
    await in_store(tmp_path, lambda store: write_archive(store, "cup", archive))
    _, contest = check_archive(archive)
    assert contest.document.entry == EntryRules(kind="password")
    with ZipFile(archive) as members:
        assert not any(b"autumn" in members.read(name) for name in members.namelist())
