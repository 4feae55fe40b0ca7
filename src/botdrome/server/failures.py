"""Failures: their log lines, and their messages to clients."""

import sys
from typing import Any

import structlog

from botdrome.store.entries import StoreUnavailable

log = structlog.get_logger()

STORE_AWAY = "the store is not available at present; try again later"
"""For clients while the store is away. The operator finds the reason in the log."""
STORE_DAMAGED = "the store is damaged there; the server's operator must put a backup in its place"


def log_failure(event: str, **words: Any) -> None:
    """Log the current exception, unless the store is away: the store logs its outages itself."""
    if not isinstance(sys.exception(), StoreUnavailable):
        log.exception(event, **words)
