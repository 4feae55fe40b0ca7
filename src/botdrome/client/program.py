"""A bot as a program in any language, with one JSON message per line on standard input
and output.
"""

import os
import re
import select
import selectors
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from time import perf_counter
from typing import IO, Protocol

from botdrome.client.sandbox import (
    SANDBOXED,
    UNLIMITED,
    BotFiles,
    Limits,
    NoSandbox,
    Start,
    sandboxed,
)

# The line of a program's standard error that says why it crashed.

PYTHON = "Traceback (most recent call last):"
FATAL = "Fatal Python error: "
FRAME = re.compile(r'^\s+File "(?P<file>[^"]+)", line (?P<line>\d+)')
HEADS = (
    re.compile(r"^panic: (?P<text>.*)"),  # Go
    re.compile(r"^Unhandled exception[.:]\s*(?P<text>.+)"),  # C#
    re.compile(r'^Exception in thread "[^"]*" (?P<text>.+)'),  # Java
    re.compile(
        r"^(?P<text>(Uncaught )?([A-Za-z_][\w.$]*)?(Error|Exception)\b( \[\w+\])?(:.*)?)$"
    ),  # JavaScript
    re.compile(r"^(?P<text>FATAL ERROR: .+)"),  # Node.js, out of memory
    re.compile(r"^\s+what\(\):\s+(?P<text>.+)"),  # C++
    re.compile(r"^(?P<text>.+: .+ \([A-Z]\w*Error\))$"),  # Ruby
)
RUST = re.compile(r"^thread '.*' (\(\d+\) )?panicked at (?P<place>.+?):?$")
NOISE = re.compile(
    r"^(Node\.js v\d|\s+at |\s*\^+\s*$|note: |exit status \d|goroutine \d|\s*$|\s+\.\.\. \d+ more)"
)


def meaningful_line(text: str) -> str:
    """Return the line that names the error, with its place in the program where that is told;
    empty: nothing was written.
    """
    lines = [line.rstrip() for line in text.splitlines()]
    for number, line in enumerate(lines):
        if line.startswith(FATAL):
            return _of_fatal_error(lines[number:])
    if PYTHON in lines:
        return _of_python(lines[len(lines) - 1 - lines[::-1].index(PYTHON) :])
    for number in range(len(lines) - 1, -1, -1):
        if found := RUST.match(lines[number]):
            return ": ".join(
                filter(
                    None, ("".join(lines[number + 1 : number + 2]), f"panicked at {found['place']}")
                )
            )
        for head in HEADS:
            if found := head.match(lines[number]):
                return found["text"]
    told = [line.strip() for line in lines if not NOISE.match(line)]
    return told[-1] if told else ""


def _of_python(lines: list[str]) -> str:
    """Return the exception and its last line of code."""
    frames = [found for line in lines if (found := FRAME.match(line))]
    last = next((line for line in lines[1:] if line and not line[0].isspace()), "")
    return f"{last} ({_place(frames[-1])})" if frames and last else last


def _of_fatal_error(lines: list[str]) -> str:
    """Return the error and the innermost line of code outside the libraries, which `faulthandler`
    writes first.
    """
    for line in lines:
        if (found := FRAME.match(line)) and "/lib/python" not in found["file"]:
            return f"{lines[0].removeprefix(FATAL)} ({_place(found)})"
    return lines[0].removeprefix(FATAL)


def _place(frame: re.Match[str]) -> str:
    return f"line {frame['line']} of {frame['file'].rpartition('/')[2]}"


LONGEST_LINE = 1 << 20
MOST_LINES = 1000
"""Lines at once before a program counts as flooding."""
KEPT_OF_STDERR = 64 << 10
MOST_OF_STDERR = 64 << 20
"""Bytes on standard error in one match before a program counts as flooding."""
FAREWELL = 0.2
"""Seconds for a program to exit after its match."""
KILLING = 10.0
"""Seconds for the guard to kill all processes of a program."""
TRACEBACK = 2.0
"""Seconds for a program to write its traceback before it is killed."""
STARTING = 60.0
"""Seconds for a first program in a sandbox."""
NAMESPACES = (
    "; ordinary users need user namespaces: sysctl kernel.unprivileged_userns_clone=1 on Debian, "
    "kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu"
)
GUARD = (
    f"import sys; sys.path.append({str(Path(__file__).parent)!r}); import guard; "
    "guard.main(*sys.argv[1:])"
)
"""As an imported module, the guard is compiled once and not at each start."""


class CannotStart(Exception):
    """A bot cannot be started; the text has the reason."""


class PipeSelector(Protocol):
    def register(self, pipe: IO[bytes], event: int, /) -> object: ...


class Program:
    """The processes of a program under their guard: they end with the program, and with this
    process.
    """

    def __init__(
        self,
        command: Sequence[str],
        limits: Limits = UNLIMITED,
        env: Mapping[str, str] | None = None,
        sees: BotFiles | None = None,
        folder: Path | None = None,
    ) -> None:
        """With files that it sees, the program runs in a sandbox, and has no variables
        but these. `folder` is its current folder; None: that of this process.
        """
        self._name, self._sees = command[0] if sees is None else "bubblewrap", sees or BotFiles()
        self._guard, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = _guarded(theirs, command, limits, env, sees, folder)
            except CannotStart:
                self._guard.close()
                raise
        self.stdin, self.stdout, self.stderr = (
            _open_end(self._process, end) for end in ("stdin", "stdout", "stderr")
        )
        self._unsent = bytearray()
        self._unread = bytearray()
        self._errors = bytearray()
        self._errors_seen = 0
        self._ends: set[IO[bytes]] = set()
        """The pipes at their end."""
        self._poll = select.poll()
        for pipe_end in (self.stdout, self.stderr):
            self._poll.register(pipe_end, select.POLLIN)
        self.flooding = ""
        """Why the program counts as flooding; empty: it does not."""
        self._news = b""
        """What the guard said."""
        self.pid = self._started()

    def _started(self) -> int:
        """Return the first process of the program, or raise CannotStart."""
        told = self._told_by_guard(b"started")
        if told is None:
            why = (
                self._news.partition(b"failed ")[2].partition(b"\n")[0].decode()
                or "its guard could not start"
            )
            self.close()
            raise CannotStart(f"{self._name}: {why}")
        return int(told)

    # Writing and reading.

    def send(self, messages: Iterable[bytes]) -> None:
        """Send messages without waiting; unread ones are buffered."""
        for message in messages:
            self._unsent += message + b"\n"
        self.flush()

    def flush(self) -> None:
        try:
            sent = os.write(self.stdin.fileno(), self._unsent) if self._unsent else 0
        except BlockingIOError:
            return
        except OSError:
            sent = len(self._unsent)
        del self._unsent[:sent]

    def receive(self) -> list[bytes]:
        """Return the new lines."""
        while not self.flooding and (data := self._read(self.stdout)):
            self._unread += data
            self._look_for_floods()
            if data.endswith(b"\n"):
                break
        *lines, rest = bytes(self._unread).split(b"\n")
        self._unread = bytearray(rest)
        return [line for line in lines if line.strip()]

    def _look_for_floods(self) -> None:
        if self._unread.count(b"\n") > MOST_LINES:
            self.flooding = f"more than {MOST_LINES} lines at once"
        elif len(self._unread) - self._unread.rfind(b"\n") > LONGEST_LINE:
            self.flooding = f"a line of more than {LONGEST_LINE} bytes"

    def _read(self, end: IO[bytes]) -> bytes:
        try:
            data = os.read(end.fileno(), 1 << 16)
        except BlockingIOError:
            return b""
        if not data and end not in self._ends:
            self._ends.add(end)
            self._poll.unregister(end)
        return data

    @property
    def ended(self) -> bool:
        """Whether it has closed its output."""
        return self.stdout in self._ends

    def watched_by(self, selector: "PipeSelector") -> None:
        """Register the pipes: for output, for the end, and for input if there is unsent data."""
        for pipe in (self.stdout, self.stderr):
            if pipe not in self._ends:
                selector.register(pipe, selectors.EVENT_READ)
        if self._unsent:
            selector.register(self.stdin, selectors.EVENT_WRITE)

    def next_lines(self, until: float) -> list[bytes]:
        """Wait for output until this time of `perf_counter`.

        Return no line if time is up or its output is closed.
        """
        while not self.ended and not self.flooding and (left := until - perf_counter()) > 0:
            if self._unsent:
                wait_for([self], left)
                self.flush()
                ready = {self.stdout.fileno(), self.stderr.fileno()}
            else:
                ready = {number for number, _ in self._poll.poll(left * 1000 + 1)}
            if self.stderr.fileno() in ready:
                self.hear_errors()
            if self.stdout.fileno() in ready and (lines := self.receive()):
                return lines
        return []

    # Standard error.

    def hear_errors(self) -> None:
        while data := self._read(self.stderr):
            self._errors += data
            self._errors_seen += len(data)
            del self._errors[:-KEPT_OF_STDERR]
            if self._errors_seen > MOST_OF_STDERR:
                self.flooding = f"more than {MOST_OF_STDERR >> 20} MiB of output"
                return

    @property
    def errors(self) -> str:
        """The last part of its standard error."""
        return self._errors.decode(errors="replace")

    def forget_errors(self) -> None:
        """Start anew with the next match."""
        self._errors.clear()
        self._errors_seen = 0

    def last_words(self) -> str:
        """Describe its end, for its author."""
        killed = self._news.partition(b"killed ")[2].partition(b"\n")[0].decode()
        status = self.status
        how = "it closed its output" if status is None else f"it ended with status {status}"
        if status is not None and status < 0:
            how = f"it was ended by {signal.Signals(-status).name}"
        return self.hint(": ".join(filter(None, (killed or how, meaningful_line(self.errors)))))

    def hint(self, error: str) -> str:
        """Return an error of the program, and what to do if the sandbox hides a file
        that it needs.
        """
        return self._sees.hint(error)

    # The guard.

    def _told_by_guard(self, word: bytes, seconds: float = KILLING) -> bytes | None:
        """Wait until the guard has said a word, and return the rest of its line.

        None: it has ended, or time is up.
        """
        until = perf_counter() + seconds
        while True:
            for line in self._news.split(b"\n")[:-1]:
                if line.startswith(word):
                    return line[len(word) :].strip()
            self._guard.settimeout(max(0.0, until - perf_counter()))
            try:
                data = self._guard.recv(4096)
            except OSError:
                return None
            if not data:
                return None
            self._news += data

    @property
    def status(self) -> int | None:
        """The exit status, negative for a signal; None: it is running."""
        told = self._told_by_guard(b"ended", 0)
        return int(told) if told else None

    def asleep(self) -> bool:
        """Whether all threads of all its processes wait for something, as far as Linux tells."""
        states = list[str]()
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError, IndexError):
                _, _, _, session, *_ = _stat(process)
                if int(session) == self.pid:
                    states += [_stat(task)[0] for task in (process / "task").iterdir()]
        return {"S"}.issuperset(states)

    def wait_for_end(self, seconds: float) -> bool:
        return self._told_by_guard(b"ended", seconds) is not None

    def ask_for_traceback(self) -> str:
        """Let the host of a bot in Python write its traceback to standard error.

        Return its state: running or stopped.
        """
        with suppress(OSError):
            self._guard.sendall(b"?")
        told = self._told_by_guard(b"state", TRACEBACK)
        return told.decode() if told else ""

    def close(self, farewell: float = FAREWELL) -> None:
        """Close its input, and after a short time kill all its processes."""
        if self.stdin.closed:
            return
        self.stdin.close()
        self.wait_for_end(farewell)
        with suppress(OSError):
            self._guard.shutdown(socket.SHUT_WR)
        try:
            self._process.wait(KILLING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._told_by_guard(b"ended", 0)
        self._guard.close()
        self.hear_errors()
        self.stdout.close()
        self.stderr.close()


def _guarded(
    runner: socket.socket,
    command: Sequence[str],
    limits: Limits,
    env: Mapping[str, str] | None,
    sees: BotFiles | None,
    folder: Path | None,
) -> "subprocess.Popen[bytes]":
    """Start the guard of a command. Raise CannotStart if there can be no sandbox."""
    sandbox = (
        sandboxed(command, sees, limits, env or {})
        if sees is not None
        else nullcontext(Start(command))
    )
    try:
        with sandbox as start:
            words = [
                str(runner.fileno()),
                limits.words() + start.words,
                "\n".join(map(str, start.folders)),
                *start.command,
            ]
            pipe = subprocess.PIPE
            return subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", GUARD, *words], stdin=pipe, stdout=pipe,
                stderr=pipe, bufsize=0, env=env if sees is None else None, start_new_session=True,
                pass_fds=[runner.fileno(), *start.opened], cwd=folder,
            )  # fmt: skip
    except NoSandbox as problem:
        raise CannotStart(str(problem)) from None


def _open_end(process: "subprocess.Popen[bytes]", end: str) -> IO[bytes]:
    pipe: IO[bytes] = getattr(process, end)
    os.set_blocking(pipe.fileno(), False)
    return pipe


def _stat(task: Path) -> list[str]:
    """The state of a process or a thread, its parent, group and session."""
    return (task / "stat").read_text(errors="replace").rpartition(")")[2].split()[:4]


def wait_for(programs: Iterable[Program], seconds: float | None) -> None:
    """Wait until a program has written, has ended or can read more, or until the timeout."""
    with selectors.DefaultSelector() as selector:
        for program in programs:
            program.watched_by(selector)
        selector.select(seconds)


def check_sandbox() -> None:
    """Raise CannotStart if no program can run in a sandbox here."""
    program = Program(["true"], SANDBOXED, sees=BotFiles())
    program.wait_for_end(STARTING)
    status = program.status
    program.close()
    if status:
        why = program.errors.strip().partition("\n")[0]
        how = NAMESPACES if "namespace" in why or "uid map" in why else ""
        raise CannotStart(f"bubblewrap cannot run here: {why}{how}")
