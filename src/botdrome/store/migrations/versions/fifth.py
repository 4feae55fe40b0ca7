"""The likeness of names: names that look alike are found by it.

It is filled in when the store is opened.
"""

from alembic import op
from sqlalchemy import Column, Text
from sqlalchemy.types import TypeEngine

revision = "fifth"
down_revision = "fourth"

SMALL_TEXT: TypeEngine[str] = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("bots", Column("likeness", SMALL_TEXT))
    op.create_index("bots_by_likeness", "bots", ["likeness"])
