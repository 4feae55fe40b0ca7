"""The layers hold: who may import whom, and what the pure rooms must not touch."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "botdrome"
PURE = {"games", "match", "formats", "contest", "wire", "bots"}
MAY_IMPORT = {
    "games": set(),
    "bots": {"games"},
    "match": {"games"},
    "formats": {"games", "match"},
    "contest": {"games", "match", "formats"},
    "wire": {"games", "match", "formats"},
    "store": {"games", "match"},
    "server": {"games", "bots", "match", "formats", "contest", "wire", "store"},
    "api": {"games", "bots", "match", "formats", "contest", "wire", "store", "server"},
    "client": {"wire", "games", "bots"},
    "runner": {"games", "bots", "match", "formats", "contest", "wire", "client"},
    "app": {"store", "server", "api"},
    "cli": {"app", "games", "bots", "match", "formats", "contest", "wire", "client", "runner", "store", "server", "api"},
}
IMPURE = {"asyncio", "time", "datetime", "os", "socket", "logging", "random", "threading", "subprocess", "pathlib", "sys"}
ALLOWED = {
    "__future__", "abc", "ast", "base64", "bisect", "collections", "contextlib", "enum", "functools", "hashlib", "heapq",
    "ipaddress", "itertools", "json", "math", "operator", "re", "string", "struct", "types", "typing", "urllib.parse", "zlib",
    "msgspec", "botdrome",
}  # fmt: skip
FILES = sorted(SOURCE.rglob("*.py"))


def room(file: Path) -> str:
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_every_room_has_its_rule() -> None:
    assert {room(file) for file in FILES} - {"__init__"} == set(MAY_IMPORT)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_imports_go_inwards(file: Path) -> None:
    here = room(file)
    for name in imports(ast.parse(file.read_text())):
        top, _, rest = name.partition(".")
        if top == "botdrome" and here != "__init__":
            assert rest.partition(".")[0] in MAY_IMPORT[here] | {here, "__version__"}, f"{file.name} imports {name}"
        if here in PURE:
            assert top not in IMPURE, f"{file.name} is pure, and imports {name}"
            assert top in ALLOWED or name.rpartition(".")[0] in ALLOWED, f"{file.name} is pure, and imports {name}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_files_and_functions_are_small(file: Path) -> None:
    text = file.read_text()
    assert len(text.splitlines()) <= 300
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < 40, f"{node.name} is long"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_a_module_opens_with_a_sentence(file: Path) -> None:
    text = file.read_text()
    if text.strip():
        assert ast.get_docstring(ast.parse(text)), "a module says what it is"
