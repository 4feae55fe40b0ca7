"""The tests on the page of promises exist."""

import ast
import re

from tests.docs.pages import DOCS, ROOT

PAGE = (DOCS / "promises.md").read_text()
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)


def functions_in(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text())
    return {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_every_promise_names_a_test() -> None:
    rows = [
        line
        for line in PAGE.splitlines()
        if line.startswith("| ") and not line.startswith(("| promise", "|---"))
    ]
    assert len(rows) > 50
    assert [row for row in rows if "::test_" not in row] == []


def test_every_named_test_exists() -> None:
    missing = [f"{file}::{name}" for file, name in NAMED if name not in functions_in(file)]
    assert missing == []
