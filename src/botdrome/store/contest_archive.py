"""Contest archive: one zip file with everything that a contest's standings and ratings follow from.

The same contest gives the same bytes. `check_archive` reads an archive and recomputes everything
in it.
"""

import hashlib
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from botdrome.catalogue import CATALOGUE, restored
from botdrome.contest.document import BadDocument, ContestDocument, check_document, stored_document
from botdrome.contest.formats.format import Entrant, Fixture, FixtureResult, StandingsLine
from botdrome.contest.grades import GradedEntrant, graded
from botdrome.contest.progress import (
    ContestProgress,
    contest_ratings,
    fixture_result,
    match_seed,
    unplayed,
)
from botdrome.games.options import options_in, with_options
from botdrome.games.reading import UNREADABLE
from botdrome.match.record import BadRecord, fingerprint, renamed, replay_match, seed_text
from botdrome.match.terms import offline
from botdrome.store.classes import DELETED
from botdrome.store.contest_journal import (
    ALL_PLAYED,
    ARENA,
    ContestReader,
    ContestRefusal,
    ContestState,
    LogLine,
    StoredContest,
)
from botdrome.store.entries import AT
from botdrome.store.store import StoreReader

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
GRADES = "grades.json"
"""Only if the document has grades."""
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
    standings: list[StandingsLine]
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


async def write_archive(store: StoreReader, name: str, file: Path) -> int:
    """Write the archive of a contest, and return the number of its matches. Bots of participants
    that were removed from their class get other names, also in match files.

    Raise UnknownContest if there is no such contest, ContestRefusal if its secret must not be
    published yet.
    """
    contest = await ContestReader(store).load(name)
    if contest.entry.secret and contest.entry.state != "over":
        raise ContestRefusal(
            f"the contest is {contest.entry.state}; until it is over, its archive would reveal "
            "hidden draws"
        )
    names = await _deleted_names(store, contest)
    tables, sums = archived(_without(contest, names)), dict[str, str]()
    part = file.with_name(file.name + ".part")
    with ZipFile(part, "w") as archive:

        def put(member: str, data: bytes) -> None:
            sums[member] = hashlib.sha256(data).hexdigest()
            _write(archive, member, data)

        for member in TABLES:
            put(member, _as_json(getattr(tables, member.removesuffix(".json"))))
        if contest.entry.document.grades:
            progress = ContestProgress(tables.document, tables.entrants, tables.results)
            put(GRADES, _as_json(graded(progress)))
        matches = [(key, result.match) for key, result in tables.results.items() if result.match]
        for key, match in matches:
            record = await _record(store, key, match)
            put(record_name(key), renamed(record, names) if names else record)
        manifest = Manifest(VERSION, name, contest.entry.state, contest.entry.secret, sums)
        _write(archive, MANIFEST, _as_json(manifest))
    part.replace(file)
    return len(matches)


async def _deleted_names(store: StoreReader, contest: StoredContest) -> dict[str, str]:
    """Return other names for the bots of participants that were removed from their class."""
    names = dict[str, str]()
    for number, entrant in enumerate(contest.entrants, 1):
        bot = await store.bot(entrant.name) if AT in entrant.owner else None
        if bot is not None and bot.owner.partition(AT)[0] == DELETED:
            names[entrant.name] = f"{DELETED}-{number}"
    return names


def _without(contest: StoredContest, names: Mapping[str, str]) -> StoredContest:
    """Return a contest in which bots have these names and no owner."""
    if not names:
        return contest
    entrants = [
        replace(one, name=names[one.name], owner=DELETED) if one.name in names else one
        for one in contest.entrants
    ]
    document = contest.entry.document
    champion = names.get(document.champion, document.champion)
    entry = replace(contest.entry, document=replace(document, champion=champion))
    words = re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))

    def hidden(text: str) -> str:
        return words.sub(lambda found: names[found[0]], text)

    log = [
        replace(line, author=hidden(line.author), detail=hidden(line.detail))
        for line in contest.log
    ]
    return replace(contest, entry=entry, entrants=entrants, log=log)


async def _record(store: StoreReader, key: str, match: str) -> bytes:
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


# The check of a contest archive: every match is simulated again, and every pairing, table and
# rating computed again.

T = TypeVar("T")

LARGEST_FILE = 64 << 20
"""Bytes of one file."""
LARGEST_GROWTH = 200
"""How many times larger than the archive its contents may be.

Match files shrink to about a tenth.
"""
TOLERANCE = 0.01
"""Rating points by which machines may differ."""
RECORD = re.compile(r"matches/\d+(\.\d+)*\.jsonl")


class ArchiveDifference(Exception):
    """The first thing in an archive that is not as it must be."""


def check_archive(
    file: Path, watch: Callable[[int, int], None] = lambda _done, _all: None
) -> tuple[Manifest, ArchivedContest]:
    """Raise ArchiveDifference with the first difference.

    `watch` is told how many matches were checked.
    """
    try:
        with ZipFile(file) as archive:
            return _check(archive, file.stat().st_size, watch)
    except (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ArchiveDifference(f"{file.name} is no archive that can be read: {error}") from None


def _check(
    archive: ZipFile, size: int, watch: Callable[[int, int], None]
) -> tuple[Manifest, ArchivedContest]:
    _check_members(archive, size)
    manifest = _decoded(archive.read(MANIFEST), MANIFEST, Manifest)
    if manifest.botdrome_contest != VERSION:
        raise ArchiveDifference(
            f"{MANIFEST}: version {manifest.botdrome_contest} is not known; {VERSION} is"
        )
    _check_sums(archive, manifest)
    tables = _tables(archive)
    progress = _planned(manifest, tables)
    played = [key for key, result in tables.results.items() if result.match]
    _same(
        MANIFEST,
        "match files",
        sorted(set(manifest.files) - {*TABLES, GRADES}),
        sorted(map(record_name, played)),
    )
    for number, (key, fixture) in enumerate(progress.fixtures.items(), 1):
        if key in tables.results:
            _check_fixture(archive, manifest, tables.document, progress, fixture)
        watch(number, len(progress.fixtures))
    _check_standings(tables, progress)
    grades = archive.read(GRADES) if GRADES in manifest.files else b"[]"
    _same(GRADES, "grades", _decoded(grades, GRADES, list[GradedEntrant]), graded(progress))
    return manifest, tables


def _check_members(archive: ZipFile, size: int) -> None:
    """Refuse unknown and repeated names, and contents that are too large, before anything is
    unpacked.
    """
    members = archive.infolist()
    names = [member.filename for member in members]
    for member in members:
        if member.filename not in (MANIFEST, *TABLES, GRADES) and not RECORD.fullmatch(
            member.filename
        ):
            raise ArchiveDifference(f"{member.filename!r} does not belong into an archive")
        if member.file_size > LARGEST_FILE:
            raise ArchiveDifference(
                f"{member.filename} has {member.file_size} bytes; at most {LARGEST_FILE} are "
                "allowed"
            )
    if len(set(names)) < len(names):
        raise ArchiveDifference(
            f"{next(name for name in names if names.count(name) > 1)} is there twice"
        )
    if missing := {MANIFEST, *TABLES} - set(names):
        raise ArchiveDifference(f"{min(missing)} is missing")
    if (total := sum(member.file_size for member in members)) > LARGEST_GROWTH * size:
        raise ArchiveDifference(
            f"its contents have {total} bytes, more than {LARGEST_GROWTH} times the archive"
        )


def _check_sums(archive: ZipFile, manifest: Manifest) -> None:
    _same(MANIFEST, "files", sorted({*archive.namelist()} - {MANIFEST}), sorted(manifest.files))
    for name, checksum in manifest.files.items():
        if hashlib.sha256(archive.read(name)).hexdigest() != checksum:
            raise ArchiveDifference(f"{name}: its checksum is not that of {MANIFEST}")


def _tables(archive: ZipFile) -> ArchivedContest:
    fields = {field.name: field.type for field in msgspec.structs.fields(ArchivedContest)}
    tables = ArchivedContest(
        **{
            name: _decoded(archive.read(f"{name}.json"), f"{name}.json", kind)
            for name, kind in fields.items()
        }
    )
    document, entry = tables.document, tables.document.entry
    if entry.kind == "password":  # the archive does not have it
        document = replace(document, entry=replace(entry, password=entry.password or "..."))
    try:
        check_document(document)
    except BadDocument as bad:
        raise ArchiveDifference(f"document.json: {bad}") from None
    return tables


def _decoded(data: bytes, name: str, kind: type[T]) -> T:
    try:
        if kind is ContestDocument:
            return msgspec.convert(
                stored_document(msgspec.json.decode(data, type=dict[str, Any])), kind
            )
        return msgspec.json.decode(data, type=kind)
    except UNREADABLE as error:
        raise ArchiveDifference(f"{name}: {error}") from None


def _planned(manifest: Manifest, tables: ArchivedContest) -> ContestProgress:
    """Compute all pairings from the results, and compare the fixtures."""
    if manifest.name != tables.document.name:
        raise ArchiveDifference(
            f"{MANIFEST}: the name is {manifest.name!r}, and in the document "
            f"{tables.document.name!r}"
        )
    try:
        progress = ContestProgress(tables.document, tables.entrants, tables.results)
        progress.standings()
    except (LookupError, ValueError, TypeError) as error:
        raise ArchiveDifference(
            f"results.json: no contest can have these results: {error}"
        ) from None
    for key in tables.results:
        if key not in progress.fixtures:
            raise ArchiveDifference(f"results.json: there is no fixture {key} in this contest")
    complete = manifest.state == "over" and not ended_early(tables.log)
    wanted = [key for key in progress.fixtures if complete or key in progress.results]
    if missing := [key for key in wanted if key not in tables.results]:
        raise ArchiveDifference(f"results.json: fixture {missing[0]} has no result")
    return progress


def ended_early(log: Sequence[LogLine]) -> bool:
    """Return True if the organiser, or the document's `end`, closed the contest before all matches
    were played.
    """
    ends = [line for line in log if line.action == "over"]
    return bool(ends) and ends[-1].author != ARENA and ends[-1].detail != ALL_PLAYED


def _check_fixture(
    archive: ZipFile,
    manifest: Manifest,
    document: ContestDocument,
    progress: ContestProgress,
    fixture: Fixture,
) -> None:
    result, name = progress.results[fixture.key], record_name(fixture.key)
    if not result.match:
        _check_unplayed(progress, fixture, result)
        return
    try:
        record, game = restored(archive.read(name))
        *_, (match, _, _) = replay_match(record, game)
    except BadRecord as bad:
        raise ArchiveDifference(f"{name}: {bad}") from None
    setup = record.setup
    _same(name, "game", setup.game, document.game)
    _same(
        name,
        "options",
        setup.options,
        options_in(with_options(CATALOGUE[document.game].game, document.options)),
    )
    _same(
        name,
        "players",
        list(setup.names),
        [progress.entrants[number].name for number in fixture.entrants],
    )
    _same(name, "seed", setup.seed, seed_text(match_seed(manifest.secret, fixture.seed)))
    if setup.terms not in (document.terms, offline(document.terms)):
        _same(name, "terms", setup.terms, document.terms)
    if record.result is None:
        raise ArchiveDifference(f"{name}: the match has no end")
    expected = fixture_result(
        record.result, result.match, fingerprint(match) if result.fingerprint else 0
    )
    _same("results.json", f"result of fixture {fixture.key}", result, expected)


def _check_unplayed(progress: ContestProgress, fixture: Fixture, result: FixtureResult) -> None:
    """A result without a match has absent players, which do not win."""
    seats = range(len(fixture.entrants))
    if not result.absent or not set(result.absent) <= set(seats) or result.crashed:
        raise ArchiveDifference(
            f"results.json: fixture {fixture.key} has neither a match nor absent players"
        )
    expected = (
        unplayed(progress.document, fixture, result.absent)
        if result.places
        else FixtureResult((), result.absent)
    )
    _same("results.json", f"result of fixture {fixture.key}", result, expected)


def _check_standings(tables: ArchivedContest, progress: ContestProgress) -> None:
    for number, (given, computed) in enumerate(
        zip(tables.standings, progress.standings(), strict=False), 1
    ):
        _same("standings.json", f"line {number}", given, computed)
    _same("standings.json", "number of lines", len(tables.standings), len(progress.standings()))
    ratings = computed_ratings(progress)
    _same("ratings.json", "players", sorted(tables.ratings), sorted(ratings))
    for name, rating in tables.ratings.items():
        for field in rating.__struct_fields__:
            one, two = getattr(rating, field), getattr(ratings[name], field)
            if one != two and (one is None or two is None or abs(one - two) > TOLERANCE):
                raise ArchiveDifference(
                    f"ratings.json: the {field} of {name} is {one}, and must be {two}"
                )


def _same(file: str, what: str, given: Any, computed: Any) -> None:
    if given != computed:
        raise ArchiveDifference(
            f"{file}: the {what} is {_short(given)}, and must be {_short(computed)}"
        )


def _short(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 200 else text[:197] + "..."
