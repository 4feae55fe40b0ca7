"""For all tests."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

import botdrome

# What a test starts as a process is the Botdrome that the test itself runs: the sources, or the compiled one if that is tested.
os.environ["PYTHONPATH"] = str(Path(botdrome.__file__).parents[1])
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
