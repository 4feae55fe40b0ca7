"""Windows: the command says that it does not run there, before it needs anything that Windows
lacks.
"""

import subprocess
import sys

from botdrome.cli.app import NO_WINDOWS

AS_ON_WINDOWS = """
import sys
import typer  # which looks for modules that only Windows has
sys.platform = "win32"
for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty", "uvloop"):
    sys.modules[name] = None
from botdrome.cli.app import main
main()
"""


def test_the_command_names_what_to_use_instead() -> None:
    done = subprocess.run(
        [sys.executable, "-c", AS_ON_WINDOWS, "serve"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", NO_WINDOWS + "\n")
