"""Outages of the store, as the log tells them."""

from time import monotonic

import structlog

log = structlog.get_logger()

INTERVAL = 30.0
"""Seconds between two log lines about the same outage."""


class Outage:
    """A time in which the store fails, logged when it begins, at intervals and when it ends."""

    def __init__(self, verb: str) -> None:
        """`verb` is "written" or "read"."""
        self.trouble = ""
        """Why the store fails at present, for the operator; empty: it works."""
        self._verb = verb
        self._began = self._logged = 0.0

    def failed(self, problem: str, **figures: int) -> None:
        now = monotonic()
        if not self.trouble:
            self._began = now
        elif now - self._logged < INTERVAL:
            return
        self.trouble, self._logged = problem, now
        log.error(
            f"the store cannot be {self._verb}",
            problem=problem,
            seconds=round(now - self._began),
            **figures,
        )

    def worked(self, **figures: int) -> None:
        if self.trouble:
            self.trouble = ""
            log.warning(
                f"the store can be {self._verb} again",
                seconds=round(monotonic() - self._began),
                **figures,
            )
