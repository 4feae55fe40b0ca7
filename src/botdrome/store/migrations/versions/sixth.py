"""The pace of a match, where it is not the usual one."""

from alembic import op
from sqlalchemy import Column, Text
from sqlalchemy.types import TypeEngine

revision = "sixth"
down_revision = "fifth"

SMALL_TEXT: TypeEngine[str] = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("matches", Column("pace", SMALL_TEXT))
