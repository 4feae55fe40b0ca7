"""Problems: what cannot be done, in words for whoever asked."""

from collections.abc import Mapping


class Problem(Exception):
    """Something that cannot be done. The status is the one of HTTP."""

    def __init__(self, words: str, status: int = 400, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(words)
        self.words, self.status, self.headers = words, status, headers


def no_match(match_id: str) -> Problem:
    return Problem(f"there is no match {match_id!r}", 404)


def no_bot(name: str) -> Problem:
    return Problem(f"there is no bot {name!r}", 404)
