"""Asking GraphQL, in short."""

from typing import Any

import httpx


async def ask(
    http: httpx.AsyncClient, query: str, token: str | None = None, **variables: Any
) -> dict[str, Any]:
    """The data of an answer that must have no errors."""
    answer = await answered(http, query, token, **variables)
    assert "errors" not in answer, answer["errors"]
    data: dict[str, Any] = answer["data"]
    return data


async def refused(
    http: httpx.AsyncClient, query: str, token: str | None = None, **variables: Any
) -> str:
    """The words of the one error."""
    (error,) = (await answered(http, query, token, **variables))["errors"]
    words: str = error["message"]
    return words


async def answered(
    http: httpx.AsyncClient, query: str, token: str | None = None, **variables: Any
) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    response = await http.post(
        "/graphql", json={"query": query, "variables": variables}, headers=headers
    )
    answer: dict[str, Any] = response.json()
    return answer
