"""Paging: how much of a long list is given at once."""

from botdrome.api.problems import Problem

LONGEST_LIST = 1000
SHORT_LIST = 50


def original_limit(limit: int | None) -> int | None:
    """As in the original: nothing or 0 is all, which is None here; the sign does not count."""
    return abs(limit or 0) or None


def original_offset(offset: int | None) -> int:
    if offset is not None and offset < 0:
        raise Problem(f"Skip value must be non-negative, but received: {offset}")
    return offset or 0
