"""Find bubblewrap, in which sandboxed bots run, or install Debian's.

python -m tools.bubblewrap
"""

import shutil
import sys

from tools import debian

from botdrome.client.program import CannotStart, check_sandbox


def problem() -> str:
    """Return why no bot can run in a sandbox here; empty: it can."""
    try:
        check_sandbox()
    except CannotStart as found:
        return str(found)
    return ""


def main() -> int:
    """Install bubblewrap. A failure is no error: tests that need no sandbox still run."""
    if shutil.which("bwrap") is None:
        debian.install(["bubblewrap"])
    if found := problem():
        sys.stderr.write(f"The tests of the sandbox are skipped: {found}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
