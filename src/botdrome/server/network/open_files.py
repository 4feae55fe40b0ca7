"""The open files that the system allows: every connection is one."""

import sys

import structlog

log = structlog.get_logger()

UNLIMITED = 1 << 20
"""Where the system sets no limit."""
OWN = 128
"""Files that are not connections of clients: the store, workers, listening sockets, calls to bots."""


def for_clients() -> int:
    """How many clients may be connected, with the limit raised as far as the system allows."""
    return max(OWN, _raised() - OWN)


def _raised() -> int:
    if sys.platform == "win32":
        return UNLIMITED
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError) as problem:  # macOS allows less than it names
        log.warning("the limit of open files cannot be raised", limit=soft, wanted=hard, problem=str(problem))
        return soft
    return UNLIMITED if hard == resource.RLIM_INFINITY else hard
