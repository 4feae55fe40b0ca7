"""The example game of docs/adding-a-game.md, loaded from the page as a module."""

import re
import sys
from pathlib import Path
from types import ModuleType

from botdrome.catalogue import CatalogueEntry
from botdrome.match.terms import Pace, Terms

PAGE = Path(__file__).parents[2] / "docs" / "adding-a-game.md"
CODE, ROW = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)

module = ModuleType("rock_paper_scissors")
sys.modules[module.__name__] = module
exec(compile(CODE, str(PAGE), "exec"), module.__dict__)
RockPaperScissors = module.RockPaperScissors
FORMAT: CatalogueEntry = eval(
    ROW,
    {
        "CatalogueEntry": CatalogueEntry,
        "RockPaperScissors": RockPaperScissors,
        "Terms": Terms,
        "Pace": Pace,
    },
)
