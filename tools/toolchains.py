"""Find the compilers with which the templates of `botdrome new` are tested, or install Debian's.

python -m tools.toolchains
"""

import shutil
import sys

from tools import debian

PROGRAMS = {
    "node": "nodejs",
    "npm": "npm",
    "java": "default-jre-headless",
    "javac": "default-jdk-headless",
    "go": "golang-go",
    "cargo": "cargo",
    "g++": "g++",
}
"""Programs, and the Debian packages that have them."""


def missing() -> list[str]:
    return [program for program in PROGRAMS if shutil.which(program) is None]


def main() -> int:
    """A failure is no error: the tests of the other languages still run."""
    debian.install([PROGRAMS[program] for program in missing()])
    if programs := missing():
        packages = " ".join(PROGRAMS[program] for program in programs)
        sys.stderr.write(
            f"{', '.join(programs)} missing: templates are not tested with it. On Debian: apt-get "
            f"install {packages}\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
