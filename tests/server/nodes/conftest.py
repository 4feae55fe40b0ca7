"""The engines of a cluster: PostgreSQL and NATS."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from botdrome.server.nodes.engines import NatsEngine
from tests.server.nodes.draining import three as three
from tests.server.nodes.draining import two as two
from tests.server.nodes.draining import two_machines as two_machines
from tests.store.conftest import postgres as postgres
from tests.store.conftest import postgres_url as postgres_url


@pytest.fixture(scope="session")
def nats_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    engine = NatsEngine(Path(tmp_path_factory.mktemp("nats")))
    engine.start()
    yield engine.url
    engine.stop()
