"""The inputs of the running matches of nodes."""

from alembic import op
from sqlalchemy import BigInteger, Column, LargeBinary, Text
from sqlalchemy.types import TypeEngine

revision = "inputs"
down_revision = "sixth"

SMALL_TEXT: TypeEngine[str] = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "inputs",
        Column("node", SMALL_TEXT, primary_key=True),
        Column("epoch", BigInteger, primary_key=True, autoincrement=False),
        Column("number", BigInteger, primary_key=True, autoincrement=False),
        Column("data", LargeBinary, nullable=False),
    )
