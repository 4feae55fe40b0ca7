"""Logs of the server and its libraries on standard error, one event per line, as text or JSON."""

import logging
import sys
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from functools import partial
from typing import Any, TextIO, cast

import structlog

from botdrome.cli.terminal import CommandError
from botdrome.client.terminal_text import shown_lines
from botdrome.server.settings import Settings

LEVELS = {
    "debug": "debug", "info": "info", "warn": "warning", "warning": "warning", "error": "error",
}  # fmt: skip


def level_called(word: str) -> str:
    """Return a log level by its name or Xterm Boat Sinker's name for it."""
    if word.lower() not in LEVELS:
        raise CommandError(f"there is no log level {word!r}; there are {', '.join(LEVELS)}")
    return LEVELS[word.lower()]


class TolerantStream:
    """A stream that ignores errors, since standard error may be closed while the server runs."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        with suppress(OSError, ValueError):
            self._stream.write(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()


def configure_logs(settings: Settings, file: TextIO | None = None) -> None:
    """Log to standard error, or to a file."""
    target = file or sys.stderr
    stream = cast(TextIO, TolerantStream(target))
    level = logging.getLevelNamesMapping()[settings.log.level.upper()]
    in_colour = structlog.dev.ConsoleRenderer(colors=target.isatty())
    last: Any = (
        structlog.processors.JSONRenderer()
        if settings.log.format == "json"
        else _as_text(in_colour)
    )
    common: list[Any] = [
        *(
            [partial(_with_node, settings.cluster.name)]
            if settings.nats and settings.cluster.name
            else []
        ),
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso"),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*common, last],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(stream),
    )
    _take_in_others(stream, max(level, logging.WARNING), common, last)


def _with_node(
    name: str, _: Any, __: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Several nodes may log to one place."""
    return {**event, "at": name}


def _as_text(render: Callable[[Any, str, Any], str]) -> Callable[[Any, str, Any], str]:
    """Make texts of clients safe for terminals."""

    def rendered(logger: Any, method: str, event: Any) -> str:
        return render(
            logger,
            method,
            {
                key: shown_lines(value) if isinstance(value, str) else value
                for key, value in event.items()
            },
        )

    return rendered


def _take_in_others(stream: TextIO, level: int, common: list[Any], last: Any) -> None:
    """Format the warnings and errors of libraries like the server's own logs."""
    named = [structlog.stdlib.add_logger_name, *common]
    finishing = [structlog.stdlib.ProcessorFormatter.remove_processors_meta, last]
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(processors=finishing, foreign_pre_chain=named)
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
