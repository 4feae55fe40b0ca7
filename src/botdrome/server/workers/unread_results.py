"""Large results in a worker that slow clients have not read yet. Their memory is bounded, and no guest can have all of it."""

from collections import Counter

from botdrome.server.workers.jobs import WorkersBusy


class UnreadResults:
    def __init__(self, most: int) -> None:
        """`most`: bytes for everybody."""
        self._most = most
        self._kept: dict[int, tuple[str, int]] = {}
        """For each job, its guest and the bytes of its result; the oldest first."""

    def add(self, job: int, guest: str, size: int) -> list[int]:
        """Keep a result. Return the jobs whose results have to go: the oldest of a guest that keeps more than this one would.

        WorkersBusy: there is no such guest, and no room."""
        kept, gone = dict(self._kept), list[int]()
        while sum(size for _, size in kept.values()) + size > self._most:
            greediest, most = self._greediest(kept)
            if most <= sum(size for other, size in kept.values() if other == guest) + size:
                raise WorkersBusy("Too many large answers are being sent just now: try again in a moment.")
            gone.append(next(job for job, (other, _) in kept.items() if other == greediest))
            del kept[gone[-1]]
        self._kept = kept | {job: (guest, size)}
        return gone

    def remove(self, job: int) -> None:
        self._kept.pop(job, None)

    @staticmethod
    def _greediest(kept: dict[int, tuple[str, int]]) -> tuple[str, int]:
        sizes = Counter[str]()
        for guest, size in kept.values():
            sizes[guest] += size
        return sizes.most_common(1)[0] if sizes else ("", 0)
