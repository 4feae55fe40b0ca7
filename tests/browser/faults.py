"""Accessibility faults that axe finds on a page, for users of a keyboard or a screen reader."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
SERIOUS = ("serious", "critical")


def serious_faults(page: Page) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    found: dict[str, Any] = page.evaluate("() => axe.run({resultTypes: ['violations']})")
    return [_shown(one) for one in found["violations"] if one["impact"] in SERIOUS]


def _shown(violation: dict[str, Any]) -> str:
    where = "; ".join(str(node["html"])[:200] for node in violation["nodes"][:3])
    return f"{violation['id']}: {violation['help']}: {where}"
