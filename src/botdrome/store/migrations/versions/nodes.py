"""Nodes, the homes of rooms, and the node of a match with those that had it before."""

from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, Integer, Text
from sqlalchemy.types import TypeEngine

revision = "nodes"
down_revision = "inputs"

SMALL_TEXT: TypeEngine[str] = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "nodes",
        Column("name", SMALL_TEXT, primary_key=True),
        Column("epoch", BigInteger, nullable=False),
        Column("alive", Boolean, nullable=False),
        Column("messages", Integer, nullable=False),
        Column("machine", Text, nullable=False),
        Column("handover", Text, nullable=False),
        Column("version", Text, nullable=False),
        Column("url", Text, nullable=False),
        Column("draining", Boolean, nullable=False),
        Column("beat", BigInteger, nullable=False),
        Column("load", Text, nullable=False),
    )
    op.create_index("nodes_by_epoch", "nodes", ["name", "epoch"], unique=True)
    op.create_table(
        "homes",
        Column("key", SMALL_TEXT, primary_key=True),
        Column("node", SMALL_TEXT, nullable=False),
    )
    op.add_column("matches", Column("node", SMALL_TEXT, nullable=False, server_default=""))
    op.add_column("matches", Column("former", Text))
