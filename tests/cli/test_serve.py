"""What `botdrome serve` does beside serving."""

import io

import pytest
import structlog

from botdrome.cli.serve import Unfailing, configure_logs
from botdrome.server.settings import Settings


def test_a_log_that_cannot_be_written_disturbs_nobody() -> None:
    closed = io.StringIO()
    closed.close()
    Unfailing(closed).write("nobody hears this")
    Unfailing(closed).flush()


def test_logs_go_on_when_standard_error_is_closed() -> None:
    stream = io.StringIO()
    configure_logs(Settings(log_format="json"))
    structlog.configure(logger_factory=structlog.WriteLoggerFactory(Unfailing(stream)))  # type: ignore[arg-type]
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
