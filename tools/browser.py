"""Find the browser in which the pages are tested, or install Debian's.

python -m tools.browser
"""

import shutil
import sys

from tools import debian

SHELL = "chromium-headless-shell"
"""Chromium without windows: tests take it a third less CPU time."""
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "chrome")
NONE = (
    "Chromium is not installed, so the browser tests are skipped. On Debian: apt-get install "
    "chromium\n"
)


def find() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def main() -> int:
    """Install a browser. A failure is no error: tests that need no browser still run."""
    for package in (SHELL, "chromium"):
        if find() is None:
            debian.install([package])
    if find() is None:
        sys.stderr.write(NONE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
