"""Our own pages: they are there, and need nothing from elsewhere."""

import re
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from botdrome.api import pages
from botdrome.api.graphql import endpoint
from botdrome.api.pages import STATIC
from botdrome.api.request_checks import RequestChecks, RequestRate
from botdrome.server.network.origins import Origins
from botdrome.server.settings import Settings
from tests.api.conftest import SharedArena

pytestmark = pytest.mark.anyio

HTML = {"Accept": "text/html,*/*;q=0.8"}
PAGES = [
    "/",
    "/index.html",
    "/matches/01",
    "/embed/01",
    "/api/v1/docs",
    "/graphql",
    "/graphql/any/where?query={__typename}",
]


@pytest.fixture
def http(shared: SharedArena) -> httpx.AsyncClient:
    """Of one arena for all tests, since none changes anything."""
    return shared.http


@pytest.mark.parametrize(
    "path",
    PAGES,
)
async def test_a_page_and_all_that_it_refers_to_is_here(
    http: httpx.AsyncClient, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "GRAPHIQL", tmp_path)
    page = await http.get(path, headers=HTML)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'self'" in page.headers["content-security-policy"]
    for address in re.findall(r'(?:src|href)="([^"]+)"', page.text):
        assert address.startswith("/")
        assert (await http.get(address, headers=HTML)).status_code == 200, address


async def test_graphiql_is_shown_where_it_is_installed(
    http: httpx.AsyncClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "GRAPHIQL", tmp_path)
    assert "GraphiQL is not installed here" in (await http.get("/graphql", headers=HTML)).text
    (tmp_path / "graphiql.min.js").touch()
    page = (await http.get("/graphql", headers=HTML)).text
    assert "/static/graphiql/graphiql.min.js" in page


@pytest.mark.parametrize(("path", "who"), [("/matches/0123", "'none'"), ("/embed/0123", "*")])
async def test_only_what_is_to_be_embedded_may_be_framed(
    app: Starlette, path: str, who: str
) -> None:
    guarded = RequestChecks(app, Origins(Settings()), RequestRate(Settings()))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(guarded), base_url="http://127.0.0.1"
    ) as http:
        headers = (await http.get(path, headers=HTML)).headers
    assert headers["content-security-policy"].endswith(f"frame-ancestors {who}")
    assert ("x-frame-options" in headers) == (who != "*")


async def test_a_browser_is_shown_a_page_where_there_is_none(http: httpx.AsyncClient) -> None:
    response = await http.get("/nothing", headers=HTML)
    assert (response.status_code, response.headers["content-type"]) == (
        404,
        "text/html; charset=utf-8",
    )


@pytest.mark.parametrize(
    "path",
    [
        "/board",
        "/board/5/6",
        "/matches/1/why",
        "/contests/gomoku",
        "/games/chess",
        "/play/chess",
        "/embed",
        "/tv/5",
    ],
)
async def test_an_address_that_leads_to_no_page_is_answered_with_404_and_a_page(
    http: httpx.AsyncClient, path: str
) -> None:
    response = await http.get(path, headers=HTML, follow_redirects=True)
    assert (response.status_code, response.headers["content-type"]) == (
        404,
        "text/html; charset=utf-8",
    )


async def test_the_server_knows_the_pages_of_the_browser(http: httpx.AsyncClient) -> None:
    router = (Path(__file__).parents[2] / "web" / "src" / "router.ts").read_text()
    shapes = [
        shape.replace("*}", ":path}")
        for shape in re.findall(r"^  route\('(.+?)'", router, re.MULTILINE)
    ]
    assert sorted(shapes) == sorted(pages.PAGES)
    for path in (
        "/",
        "/board/5",
        "/matches/1/why/0",
        "/contests/gomoku/a/b",
        "/games/gomoku",
        "/play/gomoku",
        "/bots/a/b",
        "/bots/",
    ):
        assert (await http.get(path, headers=HTML)).status_code == 200


async def test_scripts_are_sent_compressed_to_those_who_read_that(http: httpx.AsyncClient) -> None:
    plain = await http.get("/static/web/app.js", headers={"accept-encoding": "identity"})
    packed = await http.get("/static/web/app.js", headers={"accept-encoding": "gzip"})
    assert packed.text == plain.text
    assert packed.headers["content-encoding"] == "gzip" and "content-encoding" not in plain.headers
    assert (
        packed.headers["content-type"]
        == plain.headers["content-type"]
        == "text/javascript; charset=utf-8"
    )


async def test_pages_that_were_not_built_say_so(
    http: httpx.AsyncClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "WEB", tmp_path)
    response = await http.get("/", headers=HTML)
    assert response.status_code == 503
    assert "have not been built" in response.text


async def test_the_icon(http: httpx.AsyncClient) -> None:
    response = await http.get("/favicon.ico")
    assert (response.status_code, response.headers["content-type"]) == (200, "image/svg+xml")


@pytest.mark.parametrize(
    "path",
    ["/nothing", "/no/bots", "/static/nothing.js", "/static/../app.py", "/static/%2e%2e/app.py"],
)
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
        assert (await http.get("/api/v1/nothing")).json() == {
            "error": "GET /api/v1/nothing: not found"
        }
        answer = await http.get("/graphql", params={"query": "{ __typename }"})
        assert answer.json() == {"data": {"__typename": "Query"}}
