"""What tests that start many servers do once instead of each time."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from botdrome.server.workers import pool
from botdrome.server.workers.pool import WorkerProcess

ANSWERED = httpx.Timeout(300)
"""On a busy machine an answer may take long, above all the first one of a worker process."""


def spare_certificates() -> None:
    """Let HTTP clients read no certificate authorities.

    That takes 40 to 120 ms of CPU for each client, and no test needs one.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for kind in (httpx.AsyncClient, httpx.Client):
        (kind.__init__.__kwdefaults__ or {}).update(timeout=ANSWERED, verify=context)


@contextmanager
def reused_workers() -> Iterator[None]:
    """Reuse idle worker processes for the next server, since starting one takes long."""
    idle: list[WorkerProcess] = []
    start, stop = pool.start_process, pool.stop_process

    def take() -> WorkerProcess:
        worker = idle.pop() if idle else start()
        worker.idle = False
        return worker

    def keep(worker: WorkerProcess) -> None:
        idle.append(worker) if worker.idle else stop(worker)

    pool.start_process, pool.stop_process = take, keep
    try:
        yield
    finally:
        pool.start_process, pool.stop_process = start, stop
        for worker in idle:
            stop(worker)
