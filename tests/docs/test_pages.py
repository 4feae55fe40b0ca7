"""The examples on the pages run, and the reference tables are complete."""

import json
import re
from pathlib import Path

import pytest

from botdrome.catalogue import CATALOGUE
from botdrome.games.options import options_of
from botdrome.match.record import Setup
from botdrome.match.terms import Pace, Terms
from botdrome.protocols import protocol_sections
from botdrome.server.settings import all_settings
from tests.cli.commands import all_commands
from tests.docs.pages import DOCS, ROOT


@pytest.mark.parametrize("page", sorted((DOCS / "games").glob("*.md")), ids=lambda page: page.stem)
def test_the_page_of_a_game_names_all_options(page: Path) -> None:
    for option in options_of(CATALOGUE[page.stem.replace("_", "-")].game):
        assert f"`{option}`" in page.read_text(), f"the page does not name the option {option}"


def test_every_command_is_in_the_docs() -> None:
    text = (ROOT / "README.md").read_text() + "".join(
        page.read_text() for page in DOCS.rglob("*.md")
    )
    for words, _ in all_commands():
        assert f"botdrome {' '.join(words)}" in text


def test_every_setting_is_documented_with_its_default() -> None:
    page = (DOCS / "operating.md").read_text()
    for one in all_settings(protocol_sections()):
        assert f"| `{one.path}` | `{json.dumps(one.default)}` | {one.meaning} |" in page


def test_the_match_file_page_names_every_key() -> None:
    page = (DOCS / "match-files.md").read_text()
    for key in (
        *Setup.__struct_fields__,
        *(f"pace.{name}" for name in Pace.__struct_fields__),
        *Terms.__struct_fields__[1:],
    ):
        assert f"`{key}`" in page


def test_the_commands_of_the_readme_exist() -> None:
    readme = (ROOT / "README.md").read_text()
    makefile = (ROOT / "Makefile").read_text()
    for command in set(re.findall(r"\bmake ([a-z]+)", readme)):
        assert re.search(rf"^{command}:", makefile, re.MULTILINE), f"there is no make {command}"


def test_the_rows_of_a_table_have_as_many_cells_as_its_head() -> None:
    """A bar inside a cell must be written as `\\|`, also in code; otherwise it ends the cell."""
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")):
        text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        for table in re.findall(r"(?:^ *\|.*\n)+", text, re.MULTILINE):
            widths = {len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}
            assert len(widths) == 1, f"{page.name}: {table}"
