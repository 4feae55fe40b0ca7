"""The line of a program's standard error that says why it crashed."""

import re

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
