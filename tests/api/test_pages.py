"""Our own pages: they are there, and need nothing from elsewhere."""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.routing import Mount
from tools.docs import policy_of

from botdrome.api import pages
from botdrome.api.graphql import endpoint
from botdrome.api.pages import STATIC, DocumentationSite, match_words
from botdrome.api.request_checks import RequestChecks, RequestRate
from botdrome.match.events import Result
from botdrome.server.arena import ServerAddresses
from botdrome.server.network.origins import Origins
from botdrome.server.settings import Settings
from botdrome.store.entries import BotEntry, StoreUnavailable
from tests.api.conftest import SharedArena
from tests.api.tables import entry_of, played_noughts

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


async def test_the_documentation_has_a_policy_of_its_own(tmp_path: Path) -> None:
    app = Starlette(routes=[Mount("/docs", DocumentationSite(tmp_path / "site"))])
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://arena", follow_redirects=True
    ) as http:
        missing = await http.get("/docs/")
        assert (missing.status_code, missing.text) == (503, pages.NO_DOCS)
        (tmp_path / "site" / "games").mkdir(parents=True)
        for name, words in (
            ("index.html", "<script>first()</script><script type='application/json'>{}</script>"),
            ("games/one.html", "<script>second()</script><script src='a.js'></script>"),
            ("404.html", "<style>p { color: red }</style>nothing here"),
        ):
            (tmp_path / "site" / name).write_text(words)
        policy = policy_of(tmp_path / "site")
        (tmp_path / "site" / "policy.txt").write_text(policy)
        for path, status, words in (
            ("/docs", 200, "first()"),
            ("/docs/games/one.html", 200, "second()"),
            ("/docs/nothing.html", 404, "nothing here"),
        ):
            answer = await http.get(path)
            assert answer.status_code == status and words in answer.text
            assert answer.headers["content-security-policy"] == policy
        hashed = b64encode(sha256(b"first()").digest()).decode()
        assert policy.count("sha256-") == 4 and f"'sha256-{hashed}'" in policy


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


def words_of(text: str) -> dict[str, str]:
    """The title, and what a preview of a link shows."""
    tags = re.findall(r'<meta (?:property="og:|name=")(\w+)" content="([^"]*)">', text)
    titles = re.findall("<title>(.*)</title>", text)
    assert len(titles) == 1
    return dict(tags) | {"head": titles[0]}


async def test_each_address_has_its_own_words(shared: SharedArena, monkeypatch: Any) -> None:
    evil = '<b>&"Bob"'
    await played_noughts(
        shared.store,
        entry_of("told", "Ann", evil, contest="cup"),
        [(100, 0, 0), (200, 1, 1), (300, 1, 0), (400, 0, 2), (500, 2, 0)],
    )
    shown = words_of((await shared.http.get("/matches/told", headers=HTML)).text)
    assert shown["head"] == shown["title"] == "Ann – &lt;b&gt;&amp;&quot;Bob&quot; · Botdrome"
    assert shown["description"] == "Noughts and crosses, in cup: Ann wins."
    assert not {"url", "image", "twitter:card"} & shown.keys()
    monkeypatch.setattr(shared.arena, "addresses", ServerAddresses("https://arena.example.org"))
    shown = words_of((await shared.http.get("/embed/told", headers=HTML)).text)
    assert shown["url"] == "https://arena.example.org/embed/told"
    await shared.store.register(BotEntry("ada/b", "gomoku", "me", 1, None))
    shown = words_of((await shared.http.get("/bots/ada%2Fb%3F%20", headers=HTML)).text)
    assert shown["url"] == "https://arena.example.org/bots/ada/b%3F%20"
    for path, title in (
        ("/", "Botdrome"),
        ("/matches/none", "Botdrome"),
        ("/board/told", "Botdrome"),
        ("/games/gomoku", "Gomoku · Botdrome"),
        ("/games/chess", "Botdrome"),
        ("/bots/ada%2Fb", "ada/b · Botdrome"),
        ("/bots/Ann", "Ann · Botdrome"),
        ("/bots/buy%20this", "Botdrome"),
        ("/bots/%00", "Botdrome"),
        ("/profile/buy%20this", "Botdrome"),
        ("/contests/noughts-and-crosses/cup", "cup · Botdrome"),
        ("/contests/gomoku/buy%20this", "Botdrome"),
    ):
        assert words_of((await shared.http.get(path, headers=HTML)).text)["head"] == title, path


async def test_a_page_is_shown_while_the_store_is_away(
    shared: SharedArena, monkeypatch: Any
) -> None:
    async def away(_: object) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr(shared.store, "match", away)
    page = await shared.http.get("/matches/told", headers=HTML)
    assert (page.status_code, words_of(page.text)["title"]) == (200, "Botdrome")


def test_the_outcome_of_a_match_in_its_description() -> None:
    entry = entry_of("m", "Ann", "Bob", "Cyd", "Dan", "Eve", game="battlecube")
    assert match_words(entry) == ("Ann – Bob – Cyd – 2 others · Botdrome", "Battlecube: live.")
    assert match_words(replace(entry, status="aborted"))[1] == "Battlecube: aborted."
    drawn = Result((1,) * 5, (0,) * 5, ("complete",) * 5, ())
    assert match_words(replace(entry, status="ended", result=drawn))[1] == "Battlecube: a draw."
