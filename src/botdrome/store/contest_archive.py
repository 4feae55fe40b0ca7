"""Contest archive: one zip file with everything that a contest's standings and ratings follow from.

The same contest gives the same bytes. `contest_check.py` reads an archive and recomputes everything
in it.
"""

import hashlib
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from botdrome.contest.block_counts import contest_ratings
from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import Entrant, FixtureResult, Standing
from botdrome.contest.progress import ContestProgress
from botdrome.store.contest_journal import (
    ContestJournal,
    ContestRefusal,
    ContestState,
    LogLine,
    StoredContest,
)
from botdrome.store.store import Store

VERSION = 1
MANIFEST = "manifest.json"
TABLES = (
    "document.json",
    "entrants.json",
    "results.json",
    "standings.json",
    "ratings.json",
    "log.json",
)
BEGINNING_OF_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of all files, the earliest that a zip file can have."""


class ArchivedRating(Struct, frozen=True):
    """The rating of an entrant, rounded, since the last digits may differ between machines."""

    rating: float
    margin: float | None
    group: int
    games: int
    draws: int


class Manifest(Struct, frozen=True):
    """The first file."""

    botdrome_contest: int
    """The version of the archive."""
    name: str
    state: ContestState
    secret: str
    """What the seeds of a server's matches depend on."""
    files: dict[str, str]
    """The SHA-256 of every other file."""


class ArchivedContest(Struct, frozen=True):
    """The tables of an archive."""

    document: ContestDocument
    entrants: list[Entrant]
    results: dict[str, FixtureResult]
    standings: list[Standing]
    ratings: dict[str, ArchivedRating]
    log: list[LogLine]


def record_name(key: str) -> str:
    """Return the name of the match file of a fixture."""
    return f"matches/{key}.jsonl"


def computed_ratings(progress: ContestProgress) -> dict[str, ArchivedRating]:
    return {
        name: ArchivedRating(
            round(one.rating, 3),
            None if one.margin is None else round(one.margin, 3),
            one.group,
            one.games,
            one.draws,
        )
        for name, one in sorted(contest_ratings(progress).strengths.items())
    }


def archived(contest: StoredContest) -> ArchivedContest:
    """Compute the tables of an archive. The password for entering stays out of it."""
    document = contest.entry.document
    progress = ContestProgress(document, contest.entrants, contest.results)
    public = replace(document, entry=replace(document.entry, password=""))
    results = {key: progress.results[key] for key in progress.fixtures if key in progress.results}
    return ArchivedContest(
        public,
        contest.entrants,
        results,
        progress.standings(),
        computed_ratings(progress),
        contest.log,
    )


async def write_archive(store: Store, name: str, file: Path) -> int:
    """Write the archive of a contest, and return the number of its matches.

    Raise UnknownContest if there is no such contest, ContestRefusal if its secret must not be
    published yet.
    """
    contest = await ContestJournal(store).load(name)
    if contest.entry.secret and contest.entry.state != "over":
        raise ContestRefusal(
            f"the contest is {contest.entry.state}; until it is over, its archive would reveal "
            "hidden draws"
        )
    tables, sums = archived(contest), dict[str, str]()
    part = file.with_name(file.name + ".part")
    with ZipFile(part, "w") as archive:

        def put(member: str, data: bytes) -> None:
            sums[member] = hashlib.sha256(data).hexdigest()
            _write(archive, member, data)

        for member in TABLES:
            put(member, _as_json(getattr(tables, member.removesuffix(".json"))))
        matches = [(key, result.match) for key, result in tables.results.items() if result.match]
        for key, match in matches:
            put(record_name(key), await _record(store, key, match))
        manifest = Manifest(VERSION, name, contest.entry.state, contest.entry.secret, sums)
        _write(archive, MANIFEST, _as_json(manifest))
    part.replace(file)
    return len(matches)


async def _record(store: Store, key: str, match: str) -> bytes:
    record = await store.record(match)
    if record is None:
        raise ContestRefusal(f"fixture {key}: the store has no record of the match {match}")
    return record


def _as_json(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=1) + b"\n"


def _write(archive: ZipFile, member: str, data: bytes) -> None:
    about = ZipInfo(member, BEGINNING_OF_TIME)
    about.compress_type, about.external_attr, about.create_system = ZIP_DEFLATED, 0o644 << 16, 3
    archive.writestr(about, data)
