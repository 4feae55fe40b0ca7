"""The first tables."""

from alembic import op
from sqlalchemy import BigInteger, Column, Double, ForeignKey, Integer, LargeBinary, Text, text
from sqlalchemy.types import TypeEngine

revision = "first"
down_revision = None

SMALL_TEXT: TypeEngine[str] = Text().with_variant(Text(collation="C"), "postgresql")
NUMBER: TypeEngine[int] = BigInteger().with_variant(Integer(), "sqlite")


def number_of_match() -> Column[int]:
    return Column(
        "number",
        NUMBER,
        ForeignKey("matches.number", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    )


def upgrade() -> None:
    bots()
    matches()
    seats()
    records()
    indexes()


def bots() -> None:
    op.create_table(
        "bots",
        Column("name", SMALL_TEXT, primary_key=True),
        Column("name_whole", Text),
        Column("game", SMALL_TEXT, nullable=False),
        Column("owner", SMALL_TEXT, nullable=False),
        Column("owner_whole", Text),
        Column("registered", BigInteger, nullable=False),
        Column("token_hash", Text),
    )


def matches() -> None:
    op.create_table(
        "matches",
        Column("number", NUMBER, primary_key=True),
        Column("id", SMALL_TEXT, nullable=False, unique=True),
        Column("game", SMALL_TEXT, nullable=False),
        Column("contest", SMALL_TEXT),
        Column("contest_whole", Text),
        Column("started", BigInteger, nullable=False),
        Column("seed", Text, nullable=False),
        Column("options", Text, nullable=False),
        Column("players", Text, nullable=False),
        Column("status", SMALL_TEXT, nullable=False),
        Column("ended", BigInteger),
        Column("result", Text),
        Column("view", Text),
        Column("reason", Text, nullable=False),
    )


def seats() -> None:
    op.create_table(
        "seats",
        number_of_match(),
        Column("player", Integer, primary_key=True, autoincrement=False),
        Column("name", SMALL_TEXT, nullable=False),
        Column("name_whole", Text),
        Column("started", BigInteger, nullable=False),
        Column("place", Integer),
        Column("score", Double),
        Column("cause", Text),
        sqlite_with_rowid=False,
        postgresql_with={"fillfactor": 70},
    )


def records() -> None:
    op.create_table(
        "records",
        number_of_match(),
        Column("record", LargeBinary, nullable=False),
        Column("flights", LargeBinary, nullable=False),
        postgresql_with={"toast_tuple_target": 8160},
    )


def indexes() -> None:
    in_a_contest, running = text("contest IS NOT NULL"), text("status = 'running'")
    op.create_index("matches_by_time", "matches", ["started", "number"])
    op.create_index("matches_by_game", "matches", ["game", "started", "number"])
    op.create_index(
        "matches_by_contest",
        "matches",
        ["game", "contest", "started"],
        sqlite_where=in_a_contest,
        postgresql_where=in_a_contest,
    )
    op.create_index(
        "matches_running",
        "matches",
        ["started", "number"],
        sqlite_where=running,
        postgresql_where=running,
    )
    op.create_index("seats_by_name", "seats", ["name", "started", "number"])


def downgrade() -> None:
    for table in ("records", "seats", "matches", "bots"):
        op.drop_table(table)
