"""Stores of both kinds, and the engines of a cluster."""

from tests.server.nodes.conftest import nats_url as nats_url
from tests.store.conftest import postgres as postgres
from tests.store.conftest import postgres_url as postgres_url
from tests.store.conftest import sqlite_url as sqlite_url
from tests.store.conftest import store as store
from tests.store.conftest import url as url
