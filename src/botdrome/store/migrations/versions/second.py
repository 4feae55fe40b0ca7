"""Notes, and bots that are called."""

from alembic import op
from sqlalchemy import Column, Text
from sqlalchemy.types import TypeEngine

revision = "second"
down_revision = "first"

SMALL_TEXT: TypeEngine[str] = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("bots", Column("url", Text))
    op.create_table(
        "notes",
        Column("book", SMALL_TEXT, primary_key=True),
        Column("name", SMALL_TEXT, primary_key=True),
        Column("name_whole", Text),
        Column("value", Text, nullable=False),
    )
