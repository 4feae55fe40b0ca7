"""Tracebacks of bots, as their authors need them."""

import re
import sysconfig
import traceback
from pathlib import Path

LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})
OURS = Path(__file__).parent
"""Frames of this folder are no part of a bot's traceback."""


def explain(error: BaseException) -> str:
    """Describe an exception in one line, with its line in the bot's code."""
    text = "".join(traceback.format_exception_only(error)).strip().partition("\n")[0]
    name = text.partition(":")[0]
    text = text.replace(name, name.rpartition(".")[2], 1)
    return f"{text} ({place})" if (place := line_of(error)) else text


def line_of(error: BaseException) -> str:
    """Return the last line of the bot's own code in a traceback; code of libraries is
    not its own.
    """
    frames = _frames(error)
    own = [frame for frame in frames if not frame.filename.startswith((*LIBRARIES, "<"))]
    for frame in (own or frames)[-1:]:
        return f"line {frame.lineno} of {Path(frame.filename).name}"
    return ""


def trace_of(error: BaseException) -> str:
    """Return the traceback, without the frames of the runner."""
    head = "Traceback (most recent call last):\n"
    return "".join([head, *_frames(error).format(), *traceback.format_exception_only(error)])


def _frames(error: BaseException) -> traceback.StackSummary:
    frames = traceback.extract_tb(error.__traceback__)
    return traceback.StackSummary.from_list(
        [frame for frame in frames if Path(frame.filename).parent != OURS]
    )


END_OF_DUMP = "in _run_module_as_main"
"""In the last line of what `faulthandler` writes about the main thread."""
DUMPED = re.compile(r'^  File "(?P<file>[^"<]+)", line (?P<line>\d+) in ', re.MULTILINE)


def line_in_dump(dump: str) -> str:
    """Return the bot's current line in what `faulthandler` wrote: in its main thread, where the
    host called it.
    """
    main = next((thread for thread in dump.split("\n\n") if END_OF_DUMP in thread), dump)
    frames = [found for found in DUMPED.finditer(main) if Path(found["file"]).parent != OURS]
    own = [found for found in frames if not found["file"].startswith(LIBRARIES)]
    for found in (own or frames)[:1]:
        return f"line {found['line']} of {Path(found['file']).name}"
    return ""
