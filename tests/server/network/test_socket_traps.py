"""Clients that break the WebSocket protocol on `/graphql` and `/watch` leave no tracebacks."""

from pathlib import Path

import pytest

from tests.server.fuzzing import trap

pytestmark = pytest.mark.anyio


async def test_no_broken_handshake_frame_or_early_close_leaves_a_traceback(tmp_path: Path) -> None:
    assert await trap(tmp_path, 150, seed=7) == []
