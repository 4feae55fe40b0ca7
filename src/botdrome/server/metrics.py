"""Metrics of a running server. Gauges are read on each scrape."""

from prometheus_client import Counter, Gauge, Histogram

CONNECTIONS = Gauge("botdrome_connections", "Open connections of bots")
WAITING = Gauge("botdrome_waiting", "Bots that wait for an opponent")
TABLES = Gauge("botdrome_tables", "Matches that run")
MATCHES = Counter("botdrome_matches", "Matches that are over", ["game", "status"])
MOVES = Counter("botdrome_moves", "Moves in the matches that are over, legal or not")
CALLS_FAILED = Counter("botdrome_calls_failed", "Calls to bots that got no answer", ["why"])
REFUSED = Counter("botdrome_refused", "Connections and messages that were refused", ["why"])
STALLED = Counter("botdrome_stalled_seconds", "Time in which the server did not run, which players are not charged for")
HELD = Counter("botdrome_held", "Times that input of a client had to wait because it had used up its share of the server")
LATENESS = Histogram(
    "botdrome_beat_lateness_seconds",
    "How late beats are",
    buckets=(0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.025, 0.035, 0.05, 0.1, 0.25, 1.0),
)
BLOCKS = Histogram(
    "botdrome_loop_block_seconds",
    "How late the event loop was when it was looked at, every 10 ms",
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0),
)
LONGEST_BLOCK = Gauge("botdrome_loop_longest_block_seconds", "The longest block of the event loop in the last minute or two")
WORKERS_STARTED = Counter("botdrome_workers_started", "Worker processes that were started")
STORE = Histogram(
    "botdrome_store_seconds",
    "How long a result takes to be on disk",
    buckets=(0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0),
)
