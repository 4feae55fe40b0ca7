"""Traffic: how many messages passed on a connection, and how fast its client answers."""

from time import monotonic


class Traffic:
    """An answer is the first message after one of ours; it took as long as that is ago."""

    __slots__ = ("_asked", "answers", "received", "sent", "waited")

    def __init__(self) -> None:
        self.received = self.sent = self.answers = 0
        self.waited = 0.0
        """Seconds for all answers."""
        self._asked = 0.0
        """When we last sent something; 0: it has been answered."""

    def went(self, messages: int) -> None:
        self.sent += messages
        self._asked = monotonic()

    def came(self) -> None:
        self.received += 1
        if self._asked:
            self.answers += 1
            self.waited += monotonic() - self._asked
            self._asked = 0.0

    @property
    def answer_time(self) -> float | None:
        """Seconds, on average; None: nothing was answered yet."""
        return self.waited / self.answers if self.answers else None
