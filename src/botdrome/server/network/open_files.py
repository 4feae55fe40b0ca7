"""The limit of open files. Each connection uses one."""

import sys

import structlog

log = structlog.get_logger()

UNLIMITED = 1 << 20
"""The limit on systems that set none."""
OWN = 128
"""Files reserved for the store, workers, listening sockets and calls to bots."""


def for_clients() -> int:
    """Raise the limit as far as the system allows, and return the maximum number of clients."""
    return max(OWN, _raised() - OWN)


def _raised() -> int:
    if sys.platform == "win32":
        return UNLIMITED
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError) as problem:  # macOS allows less than it reports
        log.warning("the limit of open files cannot be raised", limit=soft, wanted=hard, problem=str(problem))
        return soft
    return UNLIMITED if hard == resource.RLIM_INFINITY else hard
