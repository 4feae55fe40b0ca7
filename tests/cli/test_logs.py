"""Logs: one event per line from every source, and no error stops the server."""

import io
import json
import logging

import pytest
import structlog

from botdrome.cli.logs import TolerantStream, configure_logs
from botdrome.protocols import load_settings
from botdrome.server.settings import Settings


def test_a_log_that_cannot_be_written_disturbs_nobody() -> None:
    closed = io.StringIO()
    closed.close()
    TolerantStream(closed).write("nobody hears this")
    TolerantStream(closed).flush()


def test_logs_go_on_when_standard_error_is_closed() -> None:
    stream = io.StringIO()
    configure_logs(load_settings({"log_format": "json"}))
    structlog.configure(logger_factory=structlog.WriteLoggerFactory(TolerantStream(stream)))  # type: ignore[arg-type]
    log = structlog.get_logger()
    log.info("before")
    written = stream.getvalue()
    stream.close()
    log.info("after")
    assert '"before"' in written


def test_a_log_that_goes_to_a_file_has_no_colours(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs(Settings())
    structlog.get_logger().info("stopping", seconds=30)
    line = capsys.readouterr().err
    assert "stopping" in line and "seconds=30" in line
    assert "\x1b" not in line


def test_what_libraries_log_is_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs(load_settings({"log_format": "json"}))
    logging.getLogger("websockets.server").warning("Invalid %s request received.", "HTTP")
    try:
        raise ValueError("no\nsense")
    except ValueError:
        logging.getLogger("asyncio").exception("it failed")
    warning, failure = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert (warning["event"], warning["level"], warning["logger"]) == (
        "Invalid HTTP request received.", "warning", "websockets.server",
    )  # fmt: skip
    assert warning.keys() == {"event", "level", "logger", "timestamp"}
    assert (failure["level"], failure["exception"].splitlines()[-2:]) == (
        "error",
        ["ValueError: no", "sense"],
    )


def test_what_libraries_log_is_text_like_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs(Settings())
    structlog.get_logger().warning("ours")
    logging.getLogger("websockets.server").warning("theirs")
    ours, theirs = [line.split() for line in capsys.readouterr().err.splitlines()]
    assert (ours[1:3], theirs[1:3]) == (["[warning", "]"], ["[warning", "]"])
    assert (ours[3], theirs[3], theirs[4]) == ("ours", "theirs", "[websockets.server]")


@pytest.mark.parametrize(
    ("level", "heard"), [("debug", ["warning", "error"]), ("error", ["error"])]
)
def test_what_is_not_wanted_is_not_heard_from_libraries_either(
    capsys: pytest.CaptureFixture[str], level: str, heard: list[str]
) -> None:
    configure_logs(load_settings({"log_format": "json", "log_level": "info"}))
    configure_logs(load_settings({"log_format": "json", "log_level": level}))
    for say in (logging.debug, logging.info, logging.warning, logging.error):
        say("something")
    assert [json.loads(line)["level"] for line in capsys.readouterr().err.splitlines()] == heard
