"""Metrics of a running server. Gauges are read on each scrape."""

from prometheus_client import Counter, Gauge, Histogram

CONNECTIONS = Gauge("botdrome_connections", "Open connections")
WAITING = Gauge("botdrome_waiting", "Bots waiting for an opponent")
WAIT = Histogram(
    "botdrome_wait_seconds",
    "Time that bots waited for their table",
    buckets=(0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0),
)
NODE = Gauge(
    "botdrome_node_info",
    "1 for the name, epoch and version of this node of a cluster",
    ["node", "epoch", "version"],
)
TABLES = Gauge("botdrome_tables", "Running matches")
MATCHES = Counter("botdrome_matches", "Finished matches", ["game", "status"])
MOVES = Counter("botdrome_moves", "Moves in finished matches, legal or not")
CALLS_FAILED = Counter("botdrome_calls_failed", "Failed calls to bots, by reason", ["why"])
REFUSED = Counter(
    "botdrome_refused", "Refused connections, requests and messages, by reason", ["why"]
)
STALLED = Counter(
    "botdrome_stalled_seconds",
    "Time in which the process did not run; it is not charged to players",
)
HELD = Counter(
    "botdrome_held",
    "Times that input was queued because its address had used up its share of the event loop",
)
LATENESS = Histogram(
    "botdrome_beat_lateness_seconds",
    "Delay of ticks after their due time",
    buckets=(0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.025, 0.035, 0.05, 0.1, 0.25, 1.0),
)
BLOCKS = Histogram(
    "botdrome_loop_block_seconds",
    "Delay of the event loop, measured every 8 ms while clients send input",
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0),
)
LONGEST_BLOCK = Gauge(
    "botdrome_loop_longest_block_seconds",
    "The longest delay of the event loop in the last two minutes",
)
WORKERS_STARTED = Counter("botdrome_workers_started", "Worker processes started")
STORE = Histogram(
    "botdrome_store_seconds",
    "Time until a result is on disk",
    buckets=(0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0),
)
