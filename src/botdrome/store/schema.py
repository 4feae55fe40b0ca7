"""The tables of the database, and the changes that lead to them from earlier versions.

Matches have ascending numbers, since short keys keep the large tables small. A `SMALL` text is
compared and sorted by bytes in every database, and short enough for an index: see `rows`.
"""

import re
from typing import Literal

from botdrome.store.entries import StoreUnavailable

Dialect = Literal["sqlite", "postgresql"]

VERSION_TABLE = "alembic_version"
READ_VERSION = f"SELECT version_num FROM {VERSION_TABLE}"
OLDER = ("first", "second", "third", "fourth", "fifth", "sixth", "inputs", "nodes")
"""Versions that cannot be opened any more."""
FIRST = "bot versions"
"""The first version that can be opened."""
LEADERBOARDS = """
CREATE TABLE leaderboards (
    game SMALL NOT NULL, version TEXT NOT NULL, last BIGINT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (game)
);
"""
"""What is counted of the matches of a game up to the number `last`. It may be deleted: it is
counted again."""
EVALUATIONS = """
CREATE TABLE evaluations (
    number NUMBER NOT NULL, version INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (number),
    FOREIGN KEY (number) REFERENCES matches (number) ON DELETE CASCADE
);
"""
"""How matches stood after their steps, as a version of `analysis` computed it. It may be deleted:
it is computed again."""
CLASSES = """
CREATE TABLE classes (
    name SMALL NOT NULL, label SMALL NOT NULL, secret TEXT NOT NULL, expires BIGINT NOT NULL,
    created BIGINT NOT NULL, closed BIGINT, PRIMARY KEY (name), UNIQUE (label)
);
CREATE TABLE participants (
    token_hash SMALL NOT NULL, class_name SMALL NOT NULL, name SMALL NOT NULL,
    joined BIGINT NOT NULL, PRIMARY KEY (token_hash),
    FOREIGN KEY (class_name) REFERENCES classes (name) ON DELETE CASCADE
);
CREATE INDEX participants_by_class ON participants (class_name, joined);
CREATE INDEX bots_by_owner ON bots (owner);
"""
HOSTING = """
CREATE TABLE archives (hash SMALL NOT NULL, data BLOB NOT NULL, PRIMARY KEY (hash));
CREATE TABLE uploads (
    bot SMALL NOT NULL, number INTEGER NOT NULL, version TEXT NOT NULL, hash SMALL NOT NULL,
    size INTEGER NOT NULL, uploaded BIGINT NOT NULL, state SMALL NOT NULL, report TEXT NOT NULL,
    active BOOLEAN NOT NULL, paused TEXT NOT NULL, attempts INTEGER NOT NULL,
    runner SMALL, lease SMALL, until BIGINT NOT NULL, PRIMARY KEY (bot, number)
);
CREATE INDEX uploads_by_lease ON uploads (lease) WHERE lease IS NOT NULL;
CREATE INDEX uploads_waiting ON uploads (uploaded) WHERE state = 'waiting';
CREATE INDEX uploads_active ON uploads (uploaded) WHERE active;
CREATE TABLE bot_logs (
    bot SMALL NOT NULL, written BIGINT NOT NULL, match SMALL NOT NULL, version TEXT NOT NULL,
    fault TEXT NOT NULL, log TEXT NOT NULL, PRIMARY KEY (bot, written)
);
"""
"""Uploaded versions of bots with the lease of each, their archives, and the logs of their matches.
"""
CONTESTS = """
CREATE TABLE contests (
    name SMALL NOT NULL, game SMALL NOT NULL, state SMALL NOT NULL, created BIGINT NOT NULL,
    entry TEXT NOT NULL, PRIMARY KEY (name)
);
CREATE TABLE contest_entrants (
    contest SMALL NOT NULL, number INTEGER NOT NULL, entrant TEXT NOT NULL,
    PRIMARY KEY (contest, number)
);
CREATE TABLE contest_results (
    contest SMALL NOT NULL, fixture SMALL NOT NULL, result TEXT NOT NULL,
    PRIMARY KEY (contest, fixture)
);
CREATE TABLE contest_log (
    contest SMALL NOT NULL, line SMALL NOT NULL, change TEXT NOT NULL, PRIMARY KEY (contest, line)
);
"""
"""Contests with a document. An import brings entrants and results before their contest. A result
that was annulled is an empty object, so that no import brings the old one back."""
ASSIGNMENTS = """
CREATE TABLE frozen (
    contest SMALL NOT NULL, bot SMALL NOT NULL, number INTEGER NOT NULL,
    PRIMARY KEY (contest, bot)
);
CREATE INDEX frozen_by_bot ON frozen (bot);
ALTER TABLE uploads ADD COLUMN contest SMALL;
"""
"""The versions that play in contests of classes. A lease may be for one of these contests."""
MOVED = {
    "contests": "name, NOTED_GAME, NOTED_STATE, NOTED_CREATED, value",
    "contest_entrants": "CAST(name AS INTEGER), value",
    "contest_results": "name, value",
    "contest_log": "name, value",
}
"""What the tables of contests took from the notes in which earlier versions kept them."""


def book_of(table: str) -> str:
    """Return the book of those notes, or its beginning before the name of the contest. Exports
    have contests as notes still.
    """
    return table.replace("_", " ") + " " * (table != "contests")


def _moved(table: str, columns: str) -> str:
    book = book_of(table)
    contest = f"substr(book, {len(book) + 1}), " * (table != "contests")
    which = f"FROM notes WHERE substr(book, 1, {len(book)}) = '{book}'"
    return f"INSERT INTO {table} SELECT {contest}{columns} {which};DELETE {which};"


VOID = """
CREATE INDEX matches_void ON matches (game, number) WHERE void IS NOT NULL;
"""
MIGRATIONS = {
    "leaderboards": LEADERBOARDS,
    "evaluations": EVALUATIONS,
    "classes": CLASSES,
    "hosting": f"{HOSTING}ALTER TABLE bots ADD COLUMN hosted TEXT;",
    "contests": CONTESTS + "".join(_moved(*one) for one in MOVED.items()),
    "void": f"ALTER TABLE matches ADD COLUMN void TEXT;{VOID}",
    "assignments": ASSIGNMENTS,
}
"""Each later version, and the statements that lead to it from the one before."""

TABLES = f"""
CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE bots (
    name SMALL NOT NULL, name_whole TEXT, game SMALL NOT NULL, owner SMALL NOT NULL,
    owner_whole TEXT, registered BIGINT NOT NULL, token_hash TEXT, url TEXT, likeness SMALL,
    hosted TEXT, PRIMARY KEY (name)
);
CREATE INDEX bots_by_likeness ON bots (likeness);
CREATE TABLE matches (
    number SERIAL NOT NULL, id SMALL NOT NULL, game SMALL NOT NULL, contest SMALL,
    contest_whole TEXT, started BIGINT NOT NULL, seed TEXT NOT NULL, options TEXT NOT NULL,
    players TEXT NOT NULL, status SMALL NOT NULL, ended BIGINT, result TEXT, view TEXT,
    reason TEXT NOT NULL, owners TEXT, pace SMALL, node SMALL DEFAULT '' NOT NULL, former TEXT,
    versions TEXT, void TEXT, PRIMARY KEY (number), UNIQUE (id)
);
CREATE INDEX matches_by_time ON matches (started, number);
CREATE INDEX matches_by_game ON matches (game, started, number);
CREATE INDEX matches_by_contest ON matches (game, contest, started) WHERE contest IS NOT NULL;
CREATE INDEX matches_running ON matches (started, number) WHERE status = 'running';
CREATE TABLE seats (
    number NUMBER NOT NULL, player INTEGER NOT NULL, name SMALL NOT NULL, name_whole TEXT,
    started BIGINT NOT NULL, place INTEGER, score DOUBLE, cause TEXT,
    PRIMARY KEY (number, player),
    FOREIGN KEY (number) REFERENCES matches (number) ON DELETE CASCADE
) SEATS_OPTIONS;
CREATE INDEX seats_by_name ON seats (name, started, number);
CREATE TABLE records (
    number NUMBER NOT NULL, record BLOB NOT NULL, flights BLOB NOT NULL, PRIMARY KEY (number),
    FOREIGN KEY (number) REFERENCES matches (number) ON DELETE CASCADE
) RECORDS_OPTIONS;
CREATE TABLE notes (
    book SMALL NOT NULL, name SMALL NOT NULL, name_whole TEXT, value TEXT NOT NULL,
    PRIMARY KEY (book, name)
);
CREATE TABLE heartbeats (
    name SMALL NOT NULL, owner TEXT NOT NULL, beat BIGINT NOT NULL, PRIMARY KEY (name)
);
CREATE TABLE inputs (
    node SMALL NOT NULL, epoch BIGINT NOT NULL, number BIGINT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (node, epoch, number)
);
CREATE TABLE nodes (
    name SMALL NOT NULL, epoch BIGINT NOT NULL, alive BOOLEAN NOT NULL, messages INTEGER NOT NULL,
    machine TEXT NOT NULL, handover TEXT NOT NULL, version TEXT NOT NULL, url TEXT NOT NULL,
    draining BOOLEAN NOT NULL, beat BIGINT NOT NULL, load TEXT NOT NULL, PRIMARY KEY (name)
);
CREATE UNIQUE INDEX nodes_by_epoch ON nodes (name, epoch);
CREATE TABLE homes (key SMALL NOT NULL, node SMALL NOT NULL, PRIMARY KEY (key));
{LEADERBOARDS}{EVALUATIONS}{CLASSES}{HOSTING}{VOID}{CONTESTS}{ASSIGNMENTS}"""
"""The newest version. `nodes_by_epoch` lets FOR KEY SHARE block a new epoch, and no beat."""

WORDS: dict[Dialect, dict[str, str]] = {
    "sqlite": {
        "SMALL": "TEXT", "SERIAL": "INTEGER", "NUMBER": "INTEGER",
        "SEATS_OPTIONS": "WITHOUT ROWID", "RECORDS_OPTIONS": "",
        "NOTED_GAME": "json_extract(value, '$.document.game')",
        "NOTED_STATE": "json_extract(value, '$.state')",
        "NOTED_CREATED": "json_extract(value, '$.created')",
    },
    "postgresql": {
        "SMALL": 'TEXT COLLATE "C"', "SERIAL": "BIGSERIAL", "NUMBER": "BIGINT",
        "DOUBLE": "DOUBLE PRECISION", "BLOB": "BYTEA",
        # Leave room to update each seat once in place.
        "SEATS_OPTIONS": "WITH (fillfactor = 70)",
        # Below that, compression costs more than it saves.
        "RECORDS_OPTIONS": "WITH (toast_tuple_target = 8160)",
        # Its JSON functions refuse texts with NUL. Within texts, these quotes are escaped.
        "NOTED_GAME": """substring(value FROM '"game":"([^"]*)"')""",
        "NOTED_STATE": """substring(value FROM '"state":"([a-z]*)"')""",
        "NOTED_CREATED": """substring(value FROM '"created":([0-9]+)')::bigint""",
    },
}  # fmt: skip
"""The words of `TABLES` that each database has for itself."""

COLUMNS = {
    "bots": (
        "name", "name_whole", "game", "owner", "owner_whole", "registered", "token_hash", "url",
        "likeness",
    ),
    "matches": (
        "number", "id", "game", "contest", "contest_whole", "started", "seed", "options",
        "players", "owners", "pace", "node", "former", "versions", "void", "status", "ended",
        "result", "view", "reason",
    ),
    "seats": ("number", "player", "name", "name_whole", "started", "place", "score", "cause"),
    "records": ("number", "record", "flights"),
    "notes": ("book", "name", "name_whole", "value"),
    "heartbeats": ("name", "owner", "beat"),
    "classes": ("name", "label", "secret", "expires", "created", "closed"),
    "participants": ("token_hash", "class_name", "name", "joined"),
    "contests": ("name", "game", "state", "created", "entry"),
    "contest_entrants": ("contest", "number", "entrant"),
    "contest_results": ("contest", "fixture", "result"),
    "contest_log": ("contest", "line", "change"),
}  # fmt: skip
"""The columns of rows in their order, of the tables that the journal writes."""
KEYS = {table: COLUMNS[table][: 1 + (table != "contests")] for table in ("notes", *MOVED)}
"""The first columns of the tables whose rows replace earlier ones with the same values there."""
REPLACED = KEYS | {"records": COLUMNS["records"][:1]}
"""The first columns, as in KEYS, of all tables that `changes.Replace` writes."""
RELEASED = "-"
"""In place of a node: the match moves to another node. Either of the two adopts it."""


def statements(dialect: Dialect, version: str | None) -> list[str]:
    """Return the statements from a version (None: an empty database) to the newest."""
    versions = [FIRST, *MIGRATIONS]
    if version in OLDER:
        raise StoreUnavailable(
            f"its version, {version!r}, is too old: export it with the Botdrome that wrote it, "
            "and import the file into a new store"
        )
    if version is None:
        script = f"{TABLES}INSERT INTO {VERSION_TABLE} VALUES ('{versions[-1]}')"
    elif version not in versions:
        raise StoreUnavailable("it was written by a newer version of Botdrome")
    elif version == versions[-1]:
        return []
    else:
        later = versions[versions.index(version) + 1 :]
        script = "".join(MIGRATIONS[one] for one in later)
        script += f"UPDATE {VERSION_TABLE} SET version_num = '{versions[-1]}'"
    words = re.compile(rf"\b({'|'.join(WORDS[dialect])})\b")
    return words.sub(lambda found: WORDS[dialect][found[0]], script).split(";")
