"""A PostgreSQL for nodes."""

from tests.store.conftest import postgres as postgres
from tests.store.conftest import postgres_url as postgres_url
