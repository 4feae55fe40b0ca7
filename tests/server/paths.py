"""Paths through the server: those that docs/architecture.md describes, and the functions that are
really called.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

import botdrome

SOURCES = f"{Path(botdrome.__file__).parent}/"
PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
ROW = re.compile(r"^\| (\d+) \| `([^`]+)` \| `([^`]+)` \|", re.MULTILINE)

Step = tuple[str, str]
"""A module and a function."""


def documented(title: str) -> list[Step]:
    """The steps of the path with this title on the page about the architecture."""
    _, found, section = PAGE.read_text().partition(f"### {title}\n")
    assert found, f"there is no section {title}"
    steps = ROW.findall(section.partition("\n### ")[0].partition("\n## ")[0])
    assert [int(number) for number, _, _ in steps] == list(range(1, len(steps) + 1))
    assert 0 < len(steps) <= 8
    return [(module, function) for _, module, function in steps]


def _modules(frame: FrameType | None) -> list[str]:
    """The modules of this package on a stack, the innermost last."""
    found = []
    while frame is not None:
        found.append(frame.f_code.co_filename)
        frame = frame.f_back
    return [file.removeprefix(SOURCES) for file in reversed(found) if file.startswith(SOURCES)]


class Calls:
    """The functions of this package that were called, in order, and for each the modules on its
    stack.
    """

    def __init__(self) -> None:
        self.made: list[Step] = []
        self.stacks: dict[str, list[str]] = {}

    @contextmanager
    def recorded(self) -> Iterator[None]:
        sys.setprofile(self._record)
        try:
            yield
        finally:
            sys.setprofile(None)

    def _record(self, frame: FrameType, event: str, arg: Any) -> None:
        file, name = frame.f_code.co_filename, frame.f_code.co_qualname
        if event == "call" and file.startswith(SOURCES):
            self.made.append((file.removeprefix(SOURCES), name))
            if name not in self.stacks:
                self.stacks[name] = [module for module, _ in groupby(_modules(frame))]

    def check(self, path: list[Step]) -> None:
        """All steps of the path were called, in this order."""
        made = iter(self.made)
        missing = next((step for step in path if step not in made), None)
        assert missing is None, f"{missing} is not called where the path says so: {self.made}"
