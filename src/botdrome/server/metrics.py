"""Metrics of a running server. Gauges are read on each scrape."""

from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate
from math import inf
from time import time

from prometheus_client import REGISTRY, Counter, Gauge, Metric
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.utils import floatToGoString


class PlainCounter:
    """A counter for what happens often: it counts in a plain number, which is read on each scrape.

    That takes no lock, so it is for the event loop alone.
    """

    def __init__(self, name: str, words: str, labels: tuple[str, ...] = ()) -> None:
        self._family, self._created = (name, words, labels), time()
        self._counts: dict[tuple[str, ...], float] = {} if labels else {(): 0}
        REGISTRY.register(self)

    def inc(self, amount: float = 1, labels: tuple[str, ...] = ()) -> None:
        self._counts[labels] = self._counts.get(labels, 0) + amount

    def collect(self) -> Iterable[Metric]:
        name, words, labels = self._family
        family = CounterMetricFamily(name, words, labels=labels)
        for values, count in self._counts.items():
            family.add_metric(values, count, created=self._created)
        return (family,)


class PlainHistogram:
    """A histogram of the same kind."""

    def __init__(self, name: str, words: str, buckets: tuple[float, ...]) -> None:
        self._family, self._created = (name, words), time()
        self._bounds = (*buckets, inf)
        self._counts, self._sum = [0] * len(self._bounds), 0.0
        REGISTRY.register(self)

    def observe(self, amount: float) -> None:
        self._counts[bisect_left(self._bounds, amount)] += 1
        self._sum += amount

    def collect(self) -> Iterable[Metric]:
        name, words = self._family
        family = HistogramMetricFamily(name, words)
        bounds = map(floatToGoString, self._bounds)
        family.add_metric((), list(zip(bounds, accumulate(self._counts), strict=True)), self._sum)
        family.add_sample(f"{name}_created", {}, self._created)
        return (family,)


CONNECTIONS = Gauge("botdrome_connections", "Open connections")
WAITING = Gauge("botdrome_waiting", "Bots waiting for an opponent")
WAIT = PlainHistogram(
    "botdrome_wait_seconds",
    "Time that bots waited for their table",
    buckets=(0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0),
)
NODE = Gauge(
    "botdrome_node_info",
    "1 for the name, epoch and version of this node of a cluster",
    ["node", "epoch", "version"],
)
MOVED = PlainCounter("botdrome_moved", "Clients that this node sent to other nodes")
TABLES = Gauge("botdrome_tables", "Running matches")
MATCHES = PlainCounter("botdrome_matches", "Finished matches", ("game", "status"))
MOVES = PlainCounter("botdrome_moves", "Moves in finished matches, legal or not")
CALLS_FAILED = Counter("botdrome_calls_failed", "Failed calls to bots, by reason", ["why"])
REFUSED = Counter(
    "botdrome_refused", "Refused connections, requests and messages, by reason", ["why"]
)
STALLED = Counter(
    "botdrome_stalled_seconds",
    "Time in which the process did not run; it is not charged to players",
)
HELD = PlainCounter(
    "botdrome_held",
    "Times that input was queued because its address had used up its share of the event loop",
)
LATENESS = PlainHistogram(
    "botdrome_beat_lateness_seconds",
    "Delay of ticks after their due time",
    buckets=(0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.025, 0.035, 0.05, 0.1, 0.25, 1.0),
)
BLOCKS = PlainHistogram(
    "botdrome_loop_block_seconds",
    "Delay of the event loop, measured every 8 ms while clients send input",
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0),
)
LONGEST_BLOCK = Gauge(
    "botdrome_loop_longest_block_seconds",
    "The longest delay of the event loop in the last two minutes",
)
WORKERS_STARTED = Counter("botdrome_workers_started", "Worker processes started")
STORE = PlainHistogram(
    "botdrome_store_seconds",
    "Time until a result is on disk",
    buckets=(0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0),
)
