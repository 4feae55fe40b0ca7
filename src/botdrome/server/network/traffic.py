"""Traffic of a connection: the number of messages, and the response time of the client."""

from time import monotonic


class Traffic:
    """Message counts and response times. An answer is the first message after one from the server."""

    __slots__ = ("_asked", "answers", "received", "sent", "waited")

    def __init__(self) -> None:
        self.received = self.sent = self.answers = 0
        self.waited = 0.0
        """Total seconds of all answers."""
        self._asked = 0.0
        """The time of the last message sent; 0: it is answered."""

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
        """Return the average seconds per answer; None: no answer yet."""
        return self.waited / self.answers if self.answers else None
