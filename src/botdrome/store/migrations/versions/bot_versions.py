"""The versions of the bots at the seats of a match, where a bot named one."""

from alembic import op
from sqlalchemy import Column, Text

revision = "bot versions"
down_revision = "nodes"


def upgrade() -> None:
    op.add_column("matches", Column("versions", Text))
