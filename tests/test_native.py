"""The modules that are compiled: where they are compiled, all of them are."""

import importlib
from pathlib import Path

from tools.native import MODULES, SOURCE

import botdrome


def test_they_are_there() -> None:
    assert [module for module in MODULES if not (SOURCE.parent / module).exists()] == []


def test_none_or_all_are_compiled() -> None:
    modules = [importlib.import_module(module.removesuffix(".py").replace("/", ".")) for module in MODULES]
    sources = {str(module.__file__).endswith(".py") for module in modules}
    assert sources == {Path(botdrome.__file__).is_relative_to(SOURCE)}
