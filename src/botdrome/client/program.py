"""A bot as a program in any language, with one JSON message per line on standard input and output."""

import os
import selectors
import signal
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import IO, Protocol

LONGEST_LINE = 1 << 20
MOST_LINES = 1000
"""Lines at once before a program counts as flooding."""
KEPT_OF_STDERR = 64 << 10
FAREWELL = 0.2
"""Seconds for a program to exit after its match."""


class CannotStart(Exception):
    """A bot cannot be started; the text has the reason."""


class PipeSelector(Protocol):
    def register(self, pipe: IO[bytes], event: int, /) -> object: ...


class Program:
    def __init__(self, command: Sequence[str]) -> None:
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, start_new_session=True
            )
        except OSError as error:
            raise CannotStart(f"{command[0]}: {error.strerror}") from None
        self.stdin, self.stdout, self.stderr = (_open_end(self._process, end) for end in ("stdin", "stdout", "stderr"))
        self._unsent = bytearray()
        self._unread = bytearray()
        self._errors = bytearray()
        self._ends: set[IO[bytes]] = set()
        """The pipes at their end."""
        self.flooding = ""
        """Why the program counts as flooding; empty: it does not."""

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
        if not data:
            self._ends.add(end)
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

    def hear_errors(self) -> None:
        while data := self._read(self.stderr):
            self._errors += data
            del self._errors[:-KEPT_OF_STDERR]

    @property
    def errors(self) -> str:
        """The last part of its standard error."""
        return self._errors.decode(errors="replace")

    def last_words(self) -> str:
        """Describe its end, for its author."""
        status = self._process.poll()
        how = "it closed its output" if status is None else f"it ended with status {status}"
        if status is not None and status < 0:
            how = f"it was ended by {signal.Signals(-status).name}"
        last_line = self.errors.strip().rpartition("\n")[2]
        return f"{how}: {last_line}" if last_line else how

    def wait_for_end(self, seconds: float) -> bool:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def close(self) -> None:
        """Close its input, and after a short time kill its process group."""
        if self.stdin.closed:
            return
        self.stdin.close()
        self.wait_for_end(FAREWELL)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self.hear_errors()
        self.stdout.close()
        self.stderr.close()


def _open_end(process: "subprocess.Popen[bytes]", end: str) -> IO[bytes]:
    pipe: IO[bytes] = getattr(process, end)
    os.set_blocking(pipe.fileno(), False)
    return pipe


def wait_for(programs: Iterable[Program], seconds: float | None) -> None:
    """Wait until a program has written, has ended or can read more, or until the timeout."""
    with selectors.DefaultSelector() as selector:
        for program in programs:
            program.watched_by(selector)
        selector.select(seconds)
