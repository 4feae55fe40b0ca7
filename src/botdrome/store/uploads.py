"""Uploaded versions of bots: their states, the leases of runners, and the logs of their matches.

A runner gets a version under a lease, to check it or to play it. The row of the version keeps the
hash of the lease's credential and its end. While a version that plays has a lease, or should have
one, `bots.hosted` says so, because logins read it.

A contest of a class freezes a version of each bot. Until the contest is over, this version plays,
under leases for the contest; the active one does not.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

from botdrome.games.reading import plural
from botdrome.store.changes import LockUploads, Plan, Run, replaced
from botdrome.store.entries import AT, Epoch, Note, RefusedUpload
from botdrome.store.rows import Fetch, kept_row, key, plain

State = Literal["waiting", "accepted", "rejected", "deleted"]
DAY = 24 * 3600 * 1000
MOST_ATTEMPTS = 3
"""Leases to check a version; if none of these runners reports, the version is to blame."""
KEPT_LOGS = 50
"""Matches of a bot whose logs are kept."""
KEEP_ARCHIVE = "INSERT INTO archives (hash, data) VALUES (:hash, :data) ON CONFLICT DO NOTHING"

_COLUMNS = (
    "bot, number, version, hash, size, uploaded, state, report, active, paused, runner, lease, "
    "contest"
)
_OF_BOT = f"SELECT {_COLUMNS} FROM uploads WHERE bot = :bot ORDER BY number DESC"
_LEASED = f"SELECT {_COLUMNS} FROM uploads WHERE lease = :lease AND until > :now"
_ARCHIVE = """SELECT data FROM archives JOIN uploads ON uploads.hash = archives.hash
    WHERE lease = :lease AND until > :now"""
_LOGS = "SELECT match, version, written, fault, log FROM bot_logs WHERE bot = :bot"
_BUSY = "SELECT runner, count(*) FROM uploads WHERE lease IS NOT NULL GROUP BY runner"
_SINCE = f"""SELECT count(*) FROM uploads WHERE uploaded > :since AND bot IN (SELECT name
    FROM bots WHERE (:game = '' OR game = :game) AND (name = :bot OR owner IN (SELECT owner
    FROM bots JOIN participants ON owner = participants.name || '{AT}' || class_name
    WHERE bots.name = :bot)))"""
"""All bots of a participant count together. Other owners are not proven: their bots count alone."""
_IS_STORED = "SELECT count(*) FROM archives WHERE hash = :hash"
_LAST = "SELECT coalesce(max(number), 0) FROM uploads WHERE bot = :bot"
_ADD = """INSERT INTO uploads (bot, number, version, hash, size, uploaded, state, report, active,
    paused, attempts, until) VALUES
    (:bot, :number, :version, :hash, :size, :now, 'waiting', '', false, '', 0, 0)"""
_PLAYABLE = """EXISTS (SELECT 1 FROM bots
    WHERE bots.name = uploads.bot AND token_hash IS NOT NULL AND url IS NULL)"""
"""Its token was not revoked, and the server does not call it."""
_ENDS = """WHERE lease IS NOT NULL
    AND (until < :now OR runner = :runner AND NOT (lease IN :held))"""
_ENDING = f"SELECT bot, state, runner, until FROM uploads {_ENDS}"
_END_LEASES = f"UPDATE uploads SET lease = NULL, runner = NULL {_ENDS}"
_MAKE_VOID = """UPDATE matches SET void = :why WHERE void IS NULL
    AND id NOT IN (SELECT match FROM bot_logs WHERE bot = :bot) AND number IN
    (SELECT seats.number FROM seats JOIN matches AS played ON played.number = seats.number
    WHERE seats.name = :bot AND seats.started > :day AND (played.status = 'running'
    OR played.status = 'ended' AND played.ended >= :since AND cause IN ('disconnect', 'timeout')))
    RETURNING id"""
"""The matches of a bot that its runner has left: it sends a log of each match that it ends, also
if the bot crashes."""
_DUE = """(SELECT min(contest) FROM frozen JOIN contests ON contests.name = contest
    WHERE frozen.bot = uploads.bot AND contests.state IN ('running', 'paused'))"""
"""The contest in which a bot plays now. All bots take the same order, so that none waits in one for
another that waits in another one."""
_SHOULD_PLAY = f"""{_PLAYABLE} AND CASE WHEN {_DUE} IS NULL THEN active AND paused = ''
    ELSE number = (SELECT frozen.number FROM frozen
    WHERE frozen.bot = uploads.bot AND frozen.contest = {_DUE}) END"""
_RENEW = f"""UPDATE uploads SET until = :until WHERE runner = :runner AND lease IN :held
    RETURNING lease, state = 'accepted'
    AND NOT ({_SHOULD_PLAY} AND coalesce(contest, '') = coalesce({_DUE}, ''))"""
_GIVE_UP = f"""UPDATE uploads SET state = 'rejected', report = :report
    WHERE state = 'waiting' AND lease IS NULL AND attempts >= {MOST_ATTEMPTS}
    RETURNING bot, version"""
GIVEN_UP = f"its check did not end on {MOST_ATTEMPTS} runners"
_TO_CHECK = """SELECT bot, number FROM uploads WHERE state = 'waiting' AND lease IS NULL
    ORDER BY uploaded LIMIT :most"""
_TO_PLAY = f"""SELECT bot, number FROM uploads WHERE {_SHOULD_PLAY} AND state = 'accepted'
    AND NOT (coalesce({_DUE}, '') IN :closed) AND bot NOT IN
    (SELECT bot FROM uploads WHERE lease IS NOT NULL AND state = 'accepted')
    ORDER BY {_DUE} IS NULL, uploaded LIMIT :most"""
_LEASE = f"""UPDATE uploads SET lease = :lease, runner = :runner, until = :until,
    contest = CASE WHEN state = 'accepted' THEN {_DUE} END,
    attempts = attempts + 1 WHERE bot = :bot AND number = :number AND lease IS NULL
    RETURNING {_COLUMNS}"""
_REPORT = """UPDATE uploads SET state = :state, report = :report, lease = NULL, runner = NULL
    WHERE lease = :lease AND state = 'waiting' AND until > :now RETURNING bot, number"""
_IS_NEWEST = """SELECT count(*) FROM uploads
    WHERE bot = :bot AND state = 'accepted' AND number > :number"""
_ACTIVATE = "UPDATE uploads SET active = (number = :number) WHERE bot = :bot"
_PAUSE = "UPDATE uploads SET paused = :why WHERE bot = :bot AND active RETURNING number"
_PAUSE_LEASED = """UPDATE uploads SET paused = :why WHERE lease = :lease AND until > :now
    AND state = 'accepted' RETURNING bot"""
_IS_PLAYING = """SELECT count(*) FROM uploads WHERE bot = :bot AND number = :number
    AND lease IS NOT NULL AND state = 'accepted'"""
_DELETE = """UPDATE uploads SET state = 'deleted', active = false, lease = NULL, runner = NULL
    WHERE bot = :bot AND number = :number AND state <> 'deleted' RETURNING hash"""
_DELETE_ARCHIVE = """DELETE FROM archives WHERE hash = :hash AND NOT EXISTS
    (SELECT 1 FROM uploads WHERE hash = :hash AND state <> 'deleted')"""
_HOSTED = """UPDATE bots SET hosted = coalesce((SELECT max(lease) FROM uploads
    WHERE bot = :bot AND state = 'accepted'), (SELECT max(paused) FROM uploads
    WHERE bot = :bot AND active AND paused = ''), (SELECT min('') FROM frozen
    JOIN contests ON contests.name = contest
    WHERE bot = :bot AND contests.state <> 'over')) WHERE name = :bot"""
_LOG = """INSERT INTO bot_logs (bot, written, match, version, fault, log)
    VALUES (:bot, :now, :match, :version, :fault, :log) ON CONFLICT DO NOTHING"""
_FORGET_LOGS = """DELETE FROM bot_logs WHERE bot = :bot AND written NOT IN
    (SELECT written FROM bot_logs WHERE bot = :bot ORDER BY written DESC LIMIT :most)"""


_ACCEPTED = "SELECT DISTINCT bot FROM uploads WHERE state = 'accepted' AND bot IN :bots"
_FORGET = """UPDATE uploads SET state = 'deleted', report = '', paused = '', active = false,
    lease = NULL, runner = NULL WHERE bot IN :bots RETURNING hash"""
_FORGET_MORE = [f"DELETE FROM {table} WHERE bot IN :bots" for table in ("bot_logs", "frozen")]
_OF_ENTRANTS = f"""FROM uploads JOIN bots ON bots.name = uploads.bot
    WHERE uploaded <= :deadline AND game = :game AND token_hash IS NOT NULL AND url IS NULL
    AND owner IN (SELECT name || '{AT}' || class_name FROM participants
    WHERE class_name = :class_name)"""
_UNCHECKED = f"SELECT count(*) {_OF_ENTRANTS} AND state = 'waiting'"
_NEWEST = f"""SELECT bot, owner, number, uploaded {_OF_ENTRANTS} AND state = 'accepted'
    ORDER BY active DESC, number DESC"""
_FREEZE = "INSERT INTO frozen (contest, bot, number) VALUES (:contest, :bot, :number)"
_FROZEN = """SELECT frozen.bot, owner, uploads.version, frozen.number, hash FROM frozen
    JOIN uploads ON uploads.bot = frozen.bot AND uploads.number = frozen.number
    JOIN bots ON bots.name = frozen.bot WHERE frozen.contest = :contest ORDER BY frozen.bot"""
_ARCHIVE_OF = "SELECT data FROM archives WHERE hash = :hash"
_KEPT_FOR = "SELECT min(contest) FROM frozen WHERE bot = :bot AND number = :number"


class Upload(Struct, frozen=True):
    """A version of a bot."""

    bot: str
    number: int
    version: str
    """What the bot names as its version when it logs in."""
    hash: str
    size: int
    uploaded: Epoch
    state: State
    report: str
    """What the check found; empty before it."""
    active: bool
    """Whether this is the version that plays. At most one of a bot is."""
    paused: str
    """Why it does not play at present; empty: it does."""
    runner: str | None
    lease: str | None
    """The hash of the credential of its lease; None: no runner has it."""
    contest: str | None
    """The contest of its latest lease; None: that was for any match."""


class FrozenVersion(Struct, frozen=True):
    """The version of a bot that plays in a contest."""

    bot: str
    owner: str
    version: str
    number: int
    hash: str


class UploadLimit(Struct, frozen=True):
    """How many versions may be uploaded since a moment."""

    most: int
    since: Epoch
    within: str
    """Such as `within 24 hours`."""
    game: str = ""
    """Only bots of this game count; empty: of all games."""


class HostedLog(Struct, frozen=True):
    """What a hosted bot wrote in a match."""

    match: str
    version: str
    written: Epoch
    fault: str
    log: str


class LeaseChanges(Struct, frozen=True):
    """What became of the leases of a runner."""

    ended: list[str]
    """Bots whose leases have ended."""
    kept: dict[str, bool]
    """Its leases, and whether each should end after the current match."""
    given: list[Upload]
    void: dict[str, list[str]]
    """The matches that became void, by the runner that left them."""
    rejected: list[tuple[str, str]]
    """Bots and versions whose checks are given up."""


class Uploads:
    """Reads of uploads."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch

    async def of_bot(self, bot: str) -> list[Upload]:
        """Return its versions, the newest first."""
        rows = await self._fetch(_OF_BOT, {"bot": bot})
        return [one for row in rows if (one := _upload(row)).state != "deleted"]

    async def leased(self, lease: str, now: Epoch) -> Upload | None:
        """Return the version under a lease, given the hash of its credential."""
        rows = await self._fetch(_LEASED, {"lease": lease, "now": now})
        return _upload(rows[0]) if rows else None

    async def archive(self, lease: str, now: Epoch) -> bytes | None:
        rows = await self._fetch(_ARCHIVE, {"lease": lease, "now": now})
        return bytes(rows[0][0]) if rows else None

    async def reached(self, bot: str, limit: UploadLimit) -> bool:
        rows = await self._fetch(_SINCE, _since(bot, limit))
        return int(rows[0][0]) >= limit.most

    async def frozen(self, contest: str) -> list[FrozenVersion]:
        """Return the versions that play in a contest, by bot."""
        return [FrozenVersion(*row) for row in await self._fetch(_FROZEN, {"contest": contest})]

    async def archive_of(self, version: FrozenVersion) -> bytes:
        return bytes((await self._fetch(_ARCHIVE_OF, {"hash": version.hash}))[0][0])

    async def accepted(self, bots: Sequence[str]) -> set[str]:
        """Return those of these bots that have an accepted version."""
        return {row[0] for row in await self._fetch(_ACCEPTED, {"bots": bots})}

    async def logs(self, bot: str) -> list[HostedLog]:
        """Return the logs of its matches, the newest first."""
        rows = await self._fetch(f"{_LOGS} ORDER BY written DESC", {"bot": bot})
        return [HostedLog(*row) for row in rows]

    async def leases(self) -> dict[str, int]:
        """Return the number of leases of each runner that has some."""
        return {row[0]: int(row[1]) for row in await self._fetch(_BUSY, {})}


def _upload(row: Sequence[Any]) -> Upload:
    found = dict(zip(Upload.__struct_fields__, row, strict=True))
    return Upload(**found | {"active": bool(found["active"])})


def _since(bot: str, limit: UploadLimit) -> dict[str, Any]:
    return {"bot": bot, "since": limit.since, "game": limit.game}


def too_many(limit: UploadLimit) -> RefusedUpload:
    return RefusedUpload(f"at most {limit.most} versions may be uploaded {limit.within}")


def add_upload(
    bot: str, version: str, archive: tuple[str, int], now: Epoch, limits: Sequence[UploadLimit]
) -> Plan[int]:
    """Add a version with the hash and size of its archive, and return its number.

    Raise RefusedUpload if a limit is reached; then the archive is deleted, unless another version
    has it. So it may be gone when that version is added.
    """
    yield LockUploads()
    values, stored = {"bot": bot}, {"hash": archive[0]}
    for limit in limits:
        if (yield Run(_SINCE, _since(bot, limit)))[0][0] >= limit.most:
            yield Run(_DELETE_ARCHIVE, stored)
            raise too_many(limit)
    if not (yield Run(_IS_STORED, stored))[0][0]:
        raise RefusedUpload("the archive was deleted meanwhile; upload it again")
    number = int((yield Run(_LAST, values))[0][0]) + 1
    added = {"number": number, "version": version, "hash": archive[0], "size": archive[1]}
    yield Run(_ADD, values | added | {"now": now})
    return number


def beat(
    runner: str, held: list[str], now: Epoch, until: Epoch, offers: tuple[list[str], list[str]],
    closed: Sequence[str] = (),
) -> Plan[LeaseChanges]:  # fmt: skip
    """End expired leases and those that the runner no longer holds, renew the others, and give it
    new ones. `offers` has the hashes of credentials for new leases: to check, and to play. The
    runner gets no bots for contests in `closed`.
    """
    yield LockUploads()
    mine = {"runner": runner, "until": until}
    mine_not_held = {"runner": runner, "held": held, "now": now}
    ended = yield Run(_ENDING, mine_not_held)
    void = {}
    if ended:
        yield Run(_END_LEASES, mine_not_held)
        void = yield from _make_void(ended, until - now)
    kept = yield Run(_RENEW, mine | {"held": held})
    rejected = yield Run(_GIVE_UP, {"report": GIVEN_UP})
    given = []
    others = [key(name) for name in closed]
    for query, credentials in zip((_TO_CHECK, _TO_PLAY), offers, strict=True):
        values = {"closed": others, "most": len(credentials)}
        found = (yield Run(query, values)) if credentials else ()
        for (bot, number), lease in zip(found, credentials, strict=False):
            which = {"bot": bot, "number": number, "lease": lease}
            given += yield Run(_LEASE, mine | which)
    changed = [row[0] for row in (*ended, *given)]
    for bot in changed:
        yield Run(_HOSTED, {"bot": bot})
    stopped = [bot for bot, state, *_ in ended if state != "waiting"]
    ending = {row[0]: bool(row[1]) for row in kept}
    return LeaseChanges(
        stopped, ending, [_upload(row) for row in given], void, list(map(tuple, rejected))
    )


def _make_void(ended: Sequence[Sequence[Any]], length: int) -> Plan[dict[str, list[str]]]:
    """Mark the matches of bots whose leases, which last for so long, have ended."""
    void: dict[str, list[str]] = {}
    for bot, state, runner, until in ended:
        if state == "accepted":
            why = f"the runner of {bot} was lost or stopped"
            since = until - length
            values = {"bot": bot, "why": why, "since": since, "day": since - DAY}
            for row in (yield Run(_MAKE_VOID, values)):
                void.setdefault(runner, []).append(row[0])
    return void


def report(
    lease: str, accepted: bool, text: str, now: Epoch, notes: Sequence[Note] = ()
) -> Plan[str]:
    """Store the result of a check, and return the bot. A version that is accepted plays, unless a
    newer one does.
    """
    yield LockUploads()
    state = "accepted" if accepted else "rejected"
    values = {"lease": lease, "state": state, "report": plain(text), "now": now}
    rows = yield Run(_REPORT, values)
    if not rows:
        raise RefusedUpload("the lease has ended")
    which = dict(zip(("bot", "number"), rows[0], strict=True))
    if accepted and not (yield Run(_IS_NEWEST, which))[0][0]:
        yield Run(_ACTIVATE, which)
    yield Run(_HOSTED, {"bot": which["bot"]})
    yield from replaced([kept_row(note) for note in notes])
    return str(which["bot"])


def activate(bot: str, number: int) -> Plan[None]:
    """Let another version play."""
    yield LockUploads()
    states = {row[1]: row[6] for row in (yield Run(_OF_BOT, {"bot": bot}))}
    if states.get(number) != "accepted":
        known = [str(one) for one, state in states.items() if state == "accepted"]
        raise RefusedUpload(f"version {number} was not accepted; accepted: {', '.join(known)}")
    yield Run(_ACTIVATE, {"bot": bot, "number": number})
    yield Run(_HOSTED, {"bot": bot})


def pause(bot: str, why: str) -> Plan[None]:
    """Let the active version play no more matches; an empty reason: let it play again."""
    yield LockUploads()
    if not (yield Run(_PAUSE, {"bot": bot, "why": plain(why)})):
        raise RefusedUpload(f"no version of {bot} plays")
    yield Run(_HOSTED, {"bot": bot})


def pause_leased(lease: str, why: str, now: Epoch, notes: Sequence[Note] = ()) -> Plan[str]:
    """Pause the version under a lease, and return its bot."""
    yield LockUploads()
    rows = yield Run(_PAUSE_LEASED, {"lease": lease, "why": plain(why), "now": now})
    if not rows:
        raise RefusedUpload("the lease has ended")
    yield Run(_HOSTED, {"bot": rows[0][0]})
    yield from replaced([kept_row(note) for note in notes])
    return str(rows[0][0])


def delete_upload(bot: str, number: int) -> Plan[bool]:
    """Delete a version with its archive, and return whether it was leased to play. Its row stays:
    it counts for the limit of a day.
    """
    yield LockUploads()
    which = {"bot": bot, "number": number}
    if contest := (yield Run(_KEPT_FOR, which))[0][0]:
        raise RefusedUpload(f"version {number} plays in the contest {contest!r}, so it stays")
    playing = yield Run(_IS_PLAYING, which)
    rows = yield Run(_DELETE, which)
    if not rows:
        raise RefusedUpload(f"{bot} has no version {number}")
    yield Run(_DELETE_ARCHIVE, {"hash": rows[0][0]})
    yield Run(_HOSTED, {"bot": bot})
    return bool(playing[0][0])


def add_log(bot: str, log: HostedLog) -> Plan[None]:
    values = {"match": log.match, "version": log.version, "fault": plain(log.fault)}
    yield Run(_LOG, values | {"bot": bot, "now": log.written, "log": plain(log.log)})
    yield Run(_FORGET_LOGS, {"bot": bot, "most": KEPT_LOGS})


def forget_uploads(bots: Sequence[str]) -> Plan[None]:
    """Delete the versions, archives, reports and logs of bots."""
    yield LockUploads()
    hashes = yield Run(_FORGET, {"bots": bots})
    for row in hashes:
        yield Run(_DELETE_ARCHIVE, {"hash": row[0]})
    for statement in _FORGET_MORE:
        yield Run(statement, {"bots": bots})
    for bot in bots:
        yield Run(_HOSTED, {"bot": bot})


# Contests of classes.


class Entry(Struct, frozen=True):
    """Which versions play in a contest."""

    contest: str
    class_name: str
    game: str
    deadline: Epoch
    most: int | None
    """Bots of a participant, those uploaded latest; None: all."""


def freeze(entry: Entry) -> Plan[list[str]]:
    """Freeze a version of each bot of a class: the active one, or if it was uploaded after the
    deadline, the newest before it. Return the bots.

    Raise RefusedUpload if some were not checked yet.
    """
    yield LockUploads()
    values = {"deadline": entry.deadline, "game": entry.game, "class_name": entry.class_name}
    if count := (yield Run(_UNCHECKED, values))[0][0]:
        raise RefusedUpload(f"{plural(count, 'upload')} of the class must be checked first")
    yield Run("DELETE FROM frozen WHERE contest = :contest", {"contest": entry.contest})
    bots = []
    newest = {row[0]: row for row in reversed((yield Run(_NEWEST, values)))}
    owned = Counter[str]()
    for bot, owner, number, _ in sorted(newest.values(), key=lambda row: -row[3]):
        owned[owner] += 1
        if entry.most is None or owned[owner] <= entry.most:
            bots.append(bot)
            yield Run(_FREEZE, {"contest": entry.contest, "bot": bot, "number": number})
            yield Run(_HOSTED, {"bot": bot})
    return bots
