"""The owners of seats: a seat belongs to a bot or a guest, not to whoever has its name."""

from alembic import op
from sqlalchemy import Column, Text

revision = "third"
down_revision = "second"


def upgrade() -> None:
    op.add_column("matches", Column("owners", Text))
