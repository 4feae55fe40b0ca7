"""The pages of docs/ and the code on them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def blocks(page: str, language: str = "") -> list[str]:
    """Return the code blocks of a page in a language."""
    found = re.findall(
        r"^```(\w*)\n(.*?)^```$", (DOCS / page).read_text(), re.DOTALL | re.MULTILINE
    )
    return [code for name, code in found if name == language]
