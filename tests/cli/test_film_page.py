"""Films as pages of their own."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from botdrome.catalogue import CATALOGUE
from botdrome.cli import replay
from botdrome.cli.app import app
from botdrome.cli.replay import NOT_BUILT
from botdrome.match.match import Match
from botdrome.match.record import match_file

EVIL = "</script><img src=x onerror=alert(1)>"
SCRIPT, STYLE = "console.log('viewer' < 1)", "body { color: red }"


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "web"
    folder.mkdir()
    (folder / "standalone.js").write_text(SCRIPT)
    (folder / "style.css").write_text(STYLE)
    monkeypatch.setattr(replay, "WEB", folder)
    return folder


def saved_match(folder: Path, game: str, *names: str) -> Path:
    row = CATALOGUE[game]
    match = Match(row.game, len(names), row.terms, 1)
    match.start()
    match.abort(10)
    file = folder / "match.jsonl"
    file.write_bytes(match_file(match, names))
    return file


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["replay", *map(str, words)])
    return result.exit_code, " ".join(result.stderr.split())


class Page(HTMLParser):
    """A page as a browser parses it: its elements, and the text in each."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self.texts:
            self.texts[-1] += data

    def texts_of(self, wanted: str) -> list[str]:
        return [
            text.strip("\n")
            for (tag, _), text in zip(self.elements, self.texts, strict=True)
            if tag == wanted
        ]


def page_of(tmp_path: Path, game: str, *names: str) -> Page:
    status, words = run(saved_match(tmp_path, game, *names), "--html", tmp_path / "out.html")
    assert status == 0, words
    assert "open it in any browser" in words
    return Page((tmp_path / "out.html").read_text())


def test_a_page_has_the_viewer_and_the_film(built: Path, tmp_path: Path) -> None:
    page = page_of(tmp_path, "gomoku", "ada", "bob")
    film, script = page.texts_of("script")
    header, *frames = [msgspec.json.decode(line) for line in film.split("\n") if line]
    assert (header["film"], header["game"], len(frames)) == (1, "gomoku", 2)
    assert (script, page.texts_of("style")) == (SCRIPT, [STYLE])
    assert page.texts_of("title") == ["gomoku: ada, bob"]


def test_names_are_nothing_but_text(built: Path, tmp_path: Path) -> None:
    page = page_of(tmp_path, "gomoku", EVIL, "<!--<script>")
    plain = page_of(tmp_path, "gomoku", "ada", "bob")
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in plain.elements]
    header = msgspec.json.decode(page.texts_of("script")[0].split("\n")[0])
    assert [player["name"] for player in header["players"]] == [EVIL, "<!--<script>"]


def test_nothing_runs_but_what_the_policy_names(built: Path, tmp_path: Path) -> None:
    page = page_of(tmp_path, "gomoku", "ada", "bob")
    (policy,) = [
        attrs["content"]
        for _, attrs in page.elements
        if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None and policy.startswith("default-src 'none'; ")
    script, style = (
        f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}" for text in (SCRIPT, STYLE)
    )
    assert re.findall(r"(script|style)-src '(.*?)';", policy) == [
        ("script", script),
        ("style", style),
    ]
    assert "http:" not in policy and "https:" not in policy and "unsafe" not in policy
    assert not [attrs for _, attrs in page.elements if "src" in attrs or "href" in attrs]


def test_a_game_may_have_a_viewer_of_its_own(built: Path, tmp_path: Path) -> None:
    (built / "standalone-battlecube.js").write_text("cube()")
    assert page_of(tmp_path, "battlecube", "ada", "bob").texts_of("script")[1] == "cube()"
    assert page_of(tmp_path, "gomoku", "ada", "bob").texts_of("script")[1] == SCRIPT


def test_a_viewer_that_was_not_built_is_missed(built: Path, tmp_path: Path) -> None:
    (built / "style.css").unlink()
    status, words = run(
        saved_match(tmp_path, "gomoku", "ada", "bob"), "--html", tmp_path / "out.html"
    )
    assert (status, NOT_BUILT in words) == (1, True)
    assert not (tmp_path / "out.html").exists()


@pytest.mark.parametrize("text", ["'</SCRIPT>'", "'<!-- '"])
def test_a_viewer_that_would_break_out_of_its_page_is_refused(
    built: Path, tmp_path: Path, text: str
) -> None:
    (built / "standalone.js").write_text(text)
    status, words = run(
        saved_match(tmp_path, "gomoku", "ada", "bob"), "--html", tmp_path / "out.html"
    )
    assert (status, "the viewer cannot be put into a page: it contains" in words) == (1, True)


def test_files_that_cannot_be_read_or_written_are_named(built: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_text("{}\n")
    assert run(tmp_path / "broken.jsonl", "--html", tmp_path / "out.html")[0] == 1
    status, words = run(
        saved_match(tmp_path, "gomoku", "ada", "bob"), "--html", tmp_path / "no" / "out.html"
    )
    assert (status, "out.html cannot be written: " in words) == (1, True)


def test_a_match_is_written_as_an_animation(tmp_path: Path) -> None:
    file, gif = saved_match(tmp_path, "gomoku", "ada", EVIL), tmp_path / "match.gif"
    code, words = run(file, "--gif", gif)
    assert (code, words) == (0, f"{gif}: 1 frames, 0.0 MB")
    assert gif.read_bytes().startswith(b"GIF89a")
    code, words = run(file, "--gif", tmp_path / "none" / "match.gif")
    assert code == 1 and "cannot be written" in words
