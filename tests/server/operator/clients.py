"""Operators: clients of the operator's endpoints."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from botdrome.app import RunningServer
from tests.server.clients import PATIENCE

TOKEN = "the operator's own"


class Office:
    """One HTTP client at /api/v1/operator."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        return await self.client.request(method, path, json=body)

    async def get(self, path: str) -> Any:
        return await self.have("GET", path)

    async def have(self, method: str, path: str, body: Any = None) -> Any:
        """The answer to something that succeeds."""
        answer = await self.ask(method, path, body)
        assert answer.is_success, answer.text
        return answer.json()

    async def refused(self, method: str, path: str, body: Any = None) -> tuple[int, str]:
        """The status, and the words of the refusal."""
        answer = await self.ask(method, path, body)
        return answer.status_code, answer.json()["error"]

    async def clients(self, query: str = "") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self.get(f"/clients{query}"))["clients"]
        return found

    async def audited(self) -> list[tuple[str, str, str]]:
        """The actions, oldest first."""
        entries = (await self.get("/audit"))["entries"]
        return [(one["action"], one["target"], one["detail"]) for one in reversed(entries)]


@asynccontextmanager
async def office(house: RunningServer, token: str | None = None) -> AsyncIterator[Office]:
    """Signed in by its token with every request; empty: by none."""
    given = house.settings.operator.token or house.new_operator_token if token is None else token
    headers = {"Authorization": f"Bearer {given}"} if given else {}
    base = f"{house.url}/api/v1/operator"
    async with httpx.AsyncClient(
        base_url=base, headers=headers, trust_env=False, timeout=PATIENCE
    ) as client:
        yield Office(client)
