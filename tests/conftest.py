"""For all tests."""

import logging
import os
from collections.abc import Iterator

import pytest
import structlog

# A server that is started as a process listens where it is told, and at no usual port.
os.environ.update(BOTDROME_DUEL_PORT="0", BOTDROME_XBS_PORT="0")


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Iterator[None]:
    """A command that was tried has its logs go where the test looked; nobody looks there any more."""
    yield
    structlog.reset_defaults()
    root = logging.getLogger()
    for handler in [one for one in root.handlers if isinstance(one.formatter, structlog.stdlib.ProcessorFormatter)]:
        root.removeHandler(handler)
    root.setLevel(logging.WARNING)
