"""Origins: which web pages may use this server, and under which names it may be reached.

Theory of operation. A browser sends requests on behalf of any page that its user has open. Two of their fields cannot be
forged by a page. `Origin` says where the page came from: a foreign page may send nothing that changes something, unless
it shows a credential of its own. `Host` says under which name the browser reached us: a page can have its own name lead
to 127.0.0.1 (DNS rebinding) and then counts as ours, so names that we do not know are refused. Addresses cannot be
rebound, and clients that are no browsers send no Origin.
"""

import re
import socket
from collections.abc import Iterator
from functools import cache, lru_cache
from ipaddress import ip_address
from threading import Thread
from urllib.parse import urlsplit

import structlog
from msgspec import Struct

from botdrome.server import metrics
from botdrome.server.network.rate_limit import Bucket
from botdrome.server.settings import BadSetting, Settings

log = structlog.get_logger()

HOST = re.compile(rb"\r\nhost:[ \t]*([^\r\n]*)", re.IGNORECASE)
ORIGIN = re.compile(rb"\r\norigin:[ \t]*([^\r\n]*)", re.IGNORECASE)
AN_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#@\s]+")
USUAL_PORTS = {"http": ":80", "https": ":443"}
REMEMBERED = 1024
SHOWN = 100
"""Characters of a name that a refusal repeats."""
LOGS_RATE, LOGS_BURST = 1 / 60, 10
"""Refusals that are logged a second, in the long run, and at once."""
LOOKING_UP = 1.0
"""Seconds to find out the full name of this machine."""


class Refusal(Struct, frozen=True):
    status: int
    reason: str
    """As HTTP calls that status."""
    words: str


class Origins:
    def __init__(self, settings: Settings) -> None:
        """BadSetting where `public_url` or `origins` cannot be read."""
        own = tuple(_urls(settings.network.public_url))
        self._listed = {*own, *_origins(settings.network.origins)}
        self._names = {"localhost", settings.host.lower(), *machine_names(), *(host_in(url.partition("://")[2]) for url in own)}
        self._knows = lru_cache(REMEMBERED)(self._find_host)
        self._trusts = lru_cache(REMEMBERED)(self._find_origin)
        self._logged = Bucket(LOGS_RATE, LOGS_BURST)

    def refusal(self, host: bytes | None, origin: bytes | None, open_to_all: bool) -> Refusal | None:
        """Why a request with these fields (None: without) is refused. `open_to_all`: to any page, whatever its origin."""
        if host and not self._knows(host):
            words = f"this server is not known as {shown(host)}; its operator can set network.public_url to the clients' URL"
            return self._refuse(Refusal(421, "Misdirected Request", words))
        if open_to_all or origin is None or self.trusts(origin, host):
            return None
        words = (
            f"pages from {shown(origin)} may not do this; the server's operator can list that origin in the setting origins, "
            "or in network.public_url if it is the server's own"
        )
        return self._refuse(Refusal(403, "Forbidden", words))

    def refusal_in(self, head: bytes, open_to_all: bool) -> Refusal | None:
        """The same for the head of a request, in bytes."""
        host, origin = HOST.search(head), ORIGIN.search(head)
        return self.refusal(host and host[1].rstrip(), origin and origin[1].rstrip(), open_to_all)

    def host_refusal(self, host: bytes | None) -> str:
        """Why a request for this host is refused; empty: it is not."""
        if not host or self._knows(host):
            return ""
        refusal = self.refusal(host, None, True)
        return refusal.words if refusal else ""

    def trusts(self, origin: bytes, host: bytes | None) -> bool:
        """Whether it is our own origin, a loopback one or a listed one."""
        return self._trusts(origin, host or b"")

    def _refuse(self, refusal: Refusal) -> Refusal:
        metrics.REFUSED.labels("origin").inc()
        if self._logged.take():
            log.warning("a request was refused", why=refusal.words)
        return refusal

    def _find_host(self, host: bytes) -> bool:
        text = host.decode("latin-1").lower()
        name = host_in(text.rpartition("://")[2].partition("/")[0])  # hand-written clients send whole URLs
        return name in self._names or is_address(name) or name.endswith(".localhost")

    def _find_origin(self, origin: bytes, host: bytes) -> bool:
        given = plain_origin(origin.decode("latin-1"))
        scheme, _, place = given.partition("://")
        if given in self._listed or (place and place == host.decode("latin-1").lower()):
            return True
        return scheme in USUAL_PORTS and is_loopback(host_in(place))


def host_in(place: str) -> str:
    """The host of HOST, HOST:PORT, [HOST] or [HOST]:PORT. Clients of socket.io on Node write ::1:PORT as well."""
    if place.startswith("["):
        return place[1:].partition("]")[0]
    name, colon, port = place.rpartition(":")
    alone = ":" in name and is_address(place)  # an IPv6 address without a port
    return (name if colon and not alone and (port.isdecimal() or not port) else place).removesuffix(".")


def is_address(host: str) -> bool:
    """Whether no browser looks this host up: it is an IPv6 address, or ends in a number."""
    if host.rpartition(".")[2].isdecimal():
        return True
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def plain_origin(text: str) -> str:
    """In small letters, without a port that goes without saying."""
    origin = text.lower().removesuffix("/")
    return origin.removesuffix(USUAL_PORTS.get(origin.partition(":")[0], "/"))


def shown(field: bytes) -> str:
    return ascii(field.decode("latin-1")[:SHOWN])


@cache
def machine_names() -> frozenset[str]:
    """The names of this machine. The full one may have to be asked from a name server that does not answer."""
    name, found = socket.gethostname().lower(), list[str]()
    thread = Thread(target=lambda: found.append(socket.getfqdn().lower()), daemon=True)
    thread.start()
    thread.join(LOOKING_UP)
    return frozenset({name, f"{name.partition('.')[0]}.local", *found})


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[\s,]+", text) if word]


def _urls(text: str) -> Iterator[str]:
    for word in _words(text):
        try:
            url = urlsplit(word)
            port = f":{url.port}" if url.port else ""
        except ValueError as error:
            raise BadSetting(f"network.public_url: not a URL: {word!r} ({error})") from None
        if url.scheme not in USUAL_PORTS or not url.hostname:
            raise BadSetting(f"network.public_url: a URL such as https://arena.example.org, not {word!r}")
        host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
        yield plain_origin(f"{url.scheme}://{host}{port}")


def _origins(text: str) -> Iterator[str]:
    for word in _words(text):
        origin = plain_origin(word)
        if not AN_ORIGIN.fullmatch(origin):
            raise BadSetting(f"network.origins: an origin such as https://pages.example.org, not {word!r}")
        yield origin
