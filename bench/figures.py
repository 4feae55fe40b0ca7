"""Formatting of measured times."""


def percentiles(seconds: list[float]) -> list[float]:
    """The median and the 99th percentile, in milliseconds."""
    found = sorted(seconds) or [0.0]
    return [found[int(len(found) * part)] * 1000 for part in (0.5, 0.99)]


def shown(found: list[float]) -> str:
    return "{:.2f} ms (p99 {:.2f} ms)".format(*found)
