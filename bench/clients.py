"""A load process on the second core, which reports in lines of JSON."""

import json
import subprocess
import sys
from typing import Any


def start(module: str, *words: object) -> "subprocess.Popen[str]":
    command = ["taskset", "-c", "1", sys.executable, "-m", module, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def report(clients: "subprocess.Popen[str]") -> Any:
    """Wait for the next report."""
    assert clients.stdout is not None
    return json.loads(clients.stdout.readline())
