"""The docs site: every page is in the navigation, and every link leads to a page and a heading."""

import re
from functools import cache
from pathlib import Path

import pytest

from botdrome.bots.house import HOUSE
from tests.docs.pages import DOCS, ROOT

PAGES = sorted(DOCS.rglob("*.md"))
FRONT = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]


def prose(page: Path) -> str:
    """The text without its code blocks."""
    return re.sub(r"^ *```.*?^ *```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


@cache
def anchors(page: Path) -> set[str]:
    """The ids that the site generator gives to headings."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE):
        words = re.sub(r"[^\w\s-]", "", heading.encode("ascii", "ignore").decode()).strip().lower()
        slug = re.sub(r"[-\s]+", "-", words)
        assert slug not in found, f"{page.name} has two headings {heading}"
        found.add(slug)
    return found


def test_every_page_is_in_the_navigation_once() -> None:
    listed = re.findall(r"[\w/-]+\.md$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(str(page.relative_to(DOCS)) for page in PAGES)


@pytest.mark.parametrize("page", [*FRONT, *PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_pages_and_headings(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)]*))?\)", prose(page)):
        file = page if not target else (page.parent / target).resolve()
        assert file.is_file(), f"{page.name} leads to {target}"
        if anchor:
            assert anchor in anchors(file), f"{page.name} leads to {target}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_of_the_site_lead_only_to_files_of_the_site(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", prose(page)):
        assert (page.parent / target).resolve().is_relative_to(DOCS), (
            f"{page.name} leads to {target}"
        )


@pytest.mark.parametrize("page", [*FRONT, *PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_stay_under_100_characters(page: Path) -> None:
    """Rows of tables, code and the targets of links may be longer."""
    for line in prose(page).splitlines():
        if not line.lstrip().startswith("|"):
            assert len(re.sub(r"\]\([^)]*\)", "]", line)) < 100, line


@pytest.mark.parametrize("page", [*FRONT, *PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_files_and_folders_of_the_source_exist(page: Path) -> None:
    folders, example = (
        (ROOT, ROOT / "src" / "botdrome"),
        "src/botdrome/games/rock_paper_scissors.py",
    )
    for name in re.findall(r"`((?:[a-z0-9_]+/)+(?:[a-z0-9_]+\.(?:py|ts))?)`", prose(page)):
        assert name == example or any((folder / name).exists() for folder in folders), (
            f"{page.name} names {name}"
        )


def test_house_bots_on_the_pages_exist() -> None:
    known = {f"house:{name}" for bots in HOUSE.values() for name in bots} | {"house:novice"}
    for page in [*FRONT, *PAGES]:
        named = set(re.findall(r"house:[a-z]+", page.read_text()))
        assert named <= known, f"{page.name} names {sorted(named - known)}"


def test_the_readme_fits_one_screen() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 50
