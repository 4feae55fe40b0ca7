"""However the runner ends, no process of a bot remains."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.offline.failing_bots import daemon

CODE = (
    "import signal; signal.signal(2, signal.default_int_handler); from botdrome.cli.app import "
    "main; main()"
)
"""A shell starts commands in the background with SIGINT ignored."""
COMMAND = [sys.executable, "-c", CODE, "play", "noughts-and-crosses"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_no_process_outlives_the_runner(tmp_path: Path, how: signal.Signals, jobs: str) -> None:
    pids, bot, prog = tmp_path / "pids", tmp_path / "my_bot.py", tmp_path / "program.py"
    os.mkfifo(tmp_path / "ready")
    ready = f"open({str(tmp_path / 'ready')!r}, 'w').close(); time.sleep(600)"
    bot.write_text(daemon(pids, ready))
    prog.write_text(
        f"import os, time\nopen({str(tmp_path / 'program')!r}, 'w').write(str(os.getpid()))\n"
        "time.sleep(600)"
    )
    words = [
        *COMMAND,
        str(bot),
        f"cmd:{sys.executable} {prog}",
        "-n",
        "1",
        "-j",
        jobs,
        "--limit",
        "3600000",
    ]
    runner = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (tmp_path / "ready").open().close()  # waits until the bot is asked
    bots = [os.pidfd_open(int(pid)) for pid in pids.read_text().split()]
    runner.send_signal(how)
    for process in bots:
        assert select.select([process], [], [], 60)[0], "a process of the bot goes on"
        os.close(process)
    assert runner.wait(60) == {signal.SIGINT: 130}.get(how, -how)
