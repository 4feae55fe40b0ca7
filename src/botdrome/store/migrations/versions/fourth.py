"""Signs of life: of the server that has claimed the store, and of the store itself."""

from alembic import op
from sqlalchemy import BigInteger, Column, Text
from sqlalchemy.types import TypeEngine

revision = "fourth"
down_revision = "third"

SMALL_TEXT: TypeEngine[str] = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "heartbeats",
        Column("name", SMALL_TEXT, primary_key=True),
        Column("owner", Text, nullable=False),
        Column("beat", BigInteger, nullable=False),
    )
