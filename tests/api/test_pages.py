"""Our own pages: they are there, and need nothing from elsewhere."""

import re
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from botdrome.api.graphql import graphiql
from botdrome.api.pages import STATIC

pytestmark = pytest.mark.anyio

HTML = {"Accept": "text/html,*/*;q=0.8"}


@pytest.mark.parametrize("path", ["/", "/index.html", "/api/v1/docs", "/graphql", "/graphql/any/where?query={__typename}"])
async def test_a_page_and_all_that_it_refers_to_is_here(
    http: httpx.AsyncClient, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphiql, "INSTALLED", tmp_path)
    page = await http.get(path, headers=HTML)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'self'" in page.headers["content-security-policy"]
    for address in re.findall(r'(?:src|href)="([^"]+)"', page.text):
        assert address.startswith("/")
        assert (await http.get(address, headers=HTML)).status_code == 200, address


async def test_graphiql_is_shown_where_it_is_installed(
    http: httpx.AsyncClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphiql, "INSTALLED", tmp_path)
    assert "GraphiQL is not installed here" in (await http.get("/graphql", headers=HTML)).text
    (tmp_path / "graphiql.min.js").touch()
    page = (await http.get("/graphql", headers=HTML)).text
    assert "/static/graphiql/graphiql.min.js" in page


async def test_the_icon(http: httpx.AsyncClient) -> None:
    response = await http.get("/favicon.ico")
    assert (response.status_code, response.headers["content-type"]) == (200, "image/svg+xml")


@pytest.mark.parametrize("path", ["/nothing", "/bots", "/static/nothing.js", "/static/../app.py", "/static/%2e%2e/app.py"])
async def test_what_is_not_there(http: httpx.AsyncClient, path: str) -> None:
    response = await http.get(path)
    assert response.status_code == 404
    assert response.headers["content-type"] == "text/plain; charset=utf-8"


def test_nothing_of_ours_names_another_host() -> None:
    for file in STATIC.glob("*.*"):
        hosts = set(re.findall(r"(?:https?:)?//([\w.-]+)", file.read_text()))
        assert hosts <= {"www.w3.org"}, file.name


async def test_the_application_can_be_mounted(app: Starlette) -> None:
    transport = httpx.ASGITransport(Starlette(routes=[Mount("/", app)]))
    async with httpx.AsyncClient(transport=transport, base_url="http://arena") as http:
        assert (await http.get("/api/v1/nothing")).json() == {"error": "GET /api/v1/nothing: not found"}
        answer = await http.get("/graphql", params={"query": "{ __typename }"})
        assert answer.json() == {"data": {"__typename": "Query"}}
