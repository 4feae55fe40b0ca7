"""The layers: allowed imports, modules banned from the pure layers, and the length of files and
functions.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "botdrome"
PURE = {"games", "match", "catalogue", "contest", "wire", "bots", "analysis"}
MAY_IMPORT = {
    "version": set(),
    "games": set(),
    "bots": {"games", "match"},
    "match": {"games"},
    "catalogue": {"games", "match"},
    "contest": {"games", "match", "catalogue"},
    "wire": {"games", "match", "catalogue"},
    "analysis": {"games", "bots", "match", "catalogue", "contest"},
    "store": {"games", "match", "catalogue", "contest"},
    "server": {"games", "bots", "match", "catalogue", "contest", "wire", "store"},
    "api": {
        "games",
        "bots",
        "match",
        "catalogue",
        "contest",
        "analysis",
        "wire",
        "store",
        "server",
        "drawing",
    },
    "drawing": {"games", "match"},
    "client": {"wire", "games", "bots"},
    "offline": {
        "games",
        "bots",
        "match",
        "catalogue",
        "contest",
        "wire",
        "client",
        "encodings",
        "store",
    },
    "encodings": {"games", "catalogue"},
    "rl": {"games", "bots", "match", "catalogue", "client", "encodings", "offline"},
    "protocols": {"server", "api"},
    "app": {"catalogue", "store", "server", "api", "protocols"},
    "kit": {
        "games",
        "analysis",
        "bots",
        "match",
        "catalogue",
        "contest",
        "wire",
        "client",
        "offline",
        "server",
        "protocols",
        "app",
    },
    "__main__": {"cli"},
    "cli": PURE
    | {"kit", "app", "protocols", "client", "offline", "store", "server", "api", "drawing"},
}
FLOORS = (
    {"settings", "metrics", "failures"},
    {"workers"},
    {"network"},
    {"calling"},
    {"tables"},
    {"lobby"},
    {"session"},
    {"contests"},
    {"protocol", "battlebot", "rooms"},
    {"nodes"},
    {"operator", "arena"},
)
"""The floors inside the server, from the ground. A lower one never imports a higher one."""
IMPURE = {
    "asyncio",
    "time",
    "datetime",
    "os",
    "socket",
    "logging",
    "random",
    "threading",
    "subprocess",
    "pathlib",
    "sys",
}
ALLOWED = {
    "__future__", "abc", "array", "ast", "base64", "bisect", "collections", "contextlib", "enum",
    "functools", "hashlib", "heapq", "hmac", "io", "ipaddress", "itertools", "json", "math",
    "operator", "re", "string", "struct", "tomllib", "types", "typing", "urllib.parse", "zipfile", "zlib",
    "msgspec", "botdrome",
}  # fmt: skip
FILES = sorted(set(SOURCE.rglob("*.py")) - set((SOURCE / "templates").rglob("*")))


def layer(file: Path) -> str:
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


@cache
def nodes(file: Path) -> list[ast.AST]:
    """The module itself comes first."""
    return list(ast.walk(ast.parse(file.read_text())))


def imports(file: Path) -> Iterator[str]:
    for node in nodes(file):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def module_of(file: Path) -> str:
    parts = ("botdrome", *file.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


MODULES = {module_of(file): file for file in FILES}
MOST_IN_A_CIRCLE = 3


@cache
def imported(module: str) -> frozenset[str]:
    """The modules of the package that a module imports."""
    names = (name for name in imports(MODULES[module]) if name.startswith("botdrome."))
    found = (name if name in MODULES else name.rpartition(".")[0] for name in names)
    return frozenset(name for name in found if name in MODULES and name != module)


def reachable(module: str) -> set[str]:
    """The modules that a module imports, directly or not."""
    found, unread = set[str](), [module]
    while unread:
        new = imported(unread.pop()) - found
        found |= new
        unread += new
    return found


def forbidden(file: Path, name: str) -> bool:
    """Whether a module must not import this name."""
    here = layer(file)
    top, _, rest = name.partition(".")
    if top == "botdrome" and here != "__init__":
        allowed = MAY_IMPORT[here] & PURE if here in PURE else MAY_IMPORT[here]
        return rest.partition(".")[0] not in allowed | {here, "version"}
    if (here, top) == ("contest", "numpy"):
        return False
    return here in PURE and (top in IMPURE or not ({top, name.rpartition(".")[0]} & ALLOWED))


def test_every_layer_has_its_rule() -> None:
    assert {layer(file) for file in FILES} - {"__init__"} == set(MAY_IMPORT)


def test_imports_point_downwards() -> None:
    assert [
        f"{file} imports {name}"
        for file in FILES
        for name in imports(file)
        if forbidden(file, name)
    ] == []


def floor(module: str) -> int | None:
    """The floor of a module of the server; None: it is none."""
    parts = module.removeprefix("botdrome.").split(".")
    if parts[0] != "server" or len(parts) == 1:
        return None
    return next(number for number, names in enumerate(FLOORS) if parts[1] in names)


def test_imports_inside_the_server_point_downwards() -> None:
    modules = [(module, found) for module in MODULES if (found := floor(module)) is not None]
    assert [
        f"{module} imports {other}"
        for module, here in modules
        for other in imported(module)
        if (there := floor(other)) is not None and there > here
    ] == []


def test_import_circles_are_small() -> None:
    """Imports for types count, too."""
    reached = {module: reachable(module) for module in MODULES}
    circles = {
        tuple(sorted(other for other in found if module in reached[other]))
        for module, found in reached.items()
        if module in found
    }
    assert [circle for circle in circles if len(circle) > MOST_IN_A_CIRCLE] == []


def test_files_are_short() -> None:
    everything = [*FILES, *Path(__file__).parent.rglob("*.py")]
    assert [str(file) for file in everything if len(file.read_text().splitlines()) > 800] == []


def first_statement(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return its line: a signature with many options and a docstring may be long."""
    documented = ast.get_docstring(node) is not None and len(node.body) > 1
    return node.body[documented].lineno


def test_functions_are_short() -> None:
    long = [
        f"{file}:{node.lineno} {node.name}"
        for file in FILES
        for node in nodes(file)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - first_statement(node) >= 40
    ]
    assert long == []


def test_a_module_opens_with_a_sentence() -> None:
    modules = ((file, nodes(file)[0]) for file in FILES)
    assert [
        file
        for file, one in modules
        if isinstance(one, ast.Module) and one.body and not ast.get_docstring(one)
    ] == []
