"""A short fuzz; `make fuzz` is the long one."""

from pathlib import Path

import pytest

from tests.server.fuzzing import fuzz

pytestmark = pytest.mark.anyio


async def test_rubbish_of_every_kind_disturbs_nothing(tmp_path: Path) -> None:
    assert await fuzz(tmp_path, messages=20_000, seed=1) == []
