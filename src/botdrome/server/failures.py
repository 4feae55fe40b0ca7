"""Failures that are worth a line in the log."""

import sys
from typing import Any

import structlog

from botdrome.store.store import StoreUnavailable

log = structlog.get_logger()

STORE_AWAY = "the store is not available at present; try again later"
"""What clients are told while that is so. The operator finds the reason in the log."""


def log_failure(event: str, **words: Any) -> None:
    """Log the exception that is being handled, unless it is the store's: the store logs its outages itself, once for all."""
    if not isinstance(sys.exception(), StoreUnavailable):
        log.exception(event, **words)
