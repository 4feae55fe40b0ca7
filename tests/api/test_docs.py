"""The pages on the APIs: their examples run, and their tables are complete."""

import re

import httpx
import pytest

from botdrome.api.graphql.executor import (
    DEEPEST,
    FIELD_COSTS,
    HIGHEST_COST,
    MOST_ALIASES,
    MOST_TOKENS,
)
from botdrome.api.rest.routes import BASE, ENDPOINTS, OPERATOR_ENDPOINTS
from botdrome.match.events import Event, Late, Refused
from tests.docs.pages import DOCS, blocks

pytestmark = pytest.mark.anyio


def page(name: str) -> str:
    return (DOCS / name).read_text()


async def test_the_registration_of_the_page_works(http: httpx.AsyncClient) -> None:
    request = blocks("graphql.md", "json")[0]
    response = await http.post(
        "/graphql", content=request.encode(), headers={"Content-Type": "application/json"}
    )
    assert response.json()["data"]["registerBot"]["bot"]["name"] == "MyAwesomeBot"
    assert response.json()["data"].keys() == {"registerBot"}


async def test_the_queries_of_the_page_work(http: httpx.AsyncClient) -> None:
    created = (
        await http.post("/api/v1/bots", json={"game": "gomoku", "name": "MyAwesomeBot"})
    ).json()
    token = created["password"]
    for query in blocks("graphql.md", "graphql"):
        if query.startswith("subscription"):
            continue
        response = await http.post(
            "/graphql", json={"query": query}, headers={"Authorization": f"Bearer {token}"}
        )
        assert "errors" not in response.json(), query
        token = (response.json()["data"].get("rotateToken") or {}).get("password", token)


def test_the_limits_are_named() -> None:
    text = " ".join(page("graphql.md").split())
    for limit in (MOST_TOKENS, HIGHEST_COST):
        assert f"{limit:,}" in text
    assert f"nested {DEEPEST} deep" in text
    assert f"{MOST_ALIASES} aliases" in text
    assert (
        f"`record` {FIELD_COSTS['record']}, `turns` of `AnyGame` {FIELD_COSTS['AnyGame.turns']}"
        in text
    )


def test_every_endpoint_and_parameter_is_named() -> None:
    text = page("rest.md")
    for endpoint in (*ENDPOINTS, *OPERATOR_ENDPOINTS):
        path = re.sub(r":\w+}", "}", endpoint.path)
        line = next(
            line for line in text.splitlines() if f"`{endpoint.method} {BASE}{path}`" in line
        )
        for parameter in endpoint.parameters:
            assert f"`{parameter.name}`" in line, endpoint.path


def test_every_event_is_named() -> None:
    text = page("watching.md")
    for event in Event.__subclasses__():
        if event not in (Late, Refused):
            assert f"`{event.__struct_config__.tag}`" in text
