"""Install Debian packages where that is possible: as root, with apt-get."""

import os
import shutil
import subprocess
from collections.abc import Sequence


def install(packages: Sequence[str]) -> None:
    """A failure is no error: the caller looks for the programs afterwards."""
    if not packages or os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    for command in (
        ["update", "-qq"],
        ["install", "-y", "-qq", "--no-install-recommends", *packages],
    ):
        subprocess.run(["apt-get", *command], stdout=subprocess.DEVNULL, check=False)
