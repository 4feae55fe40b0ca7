"""Origins: checks which web pages may use this server, and which host names it answers to.

Theory of operation. A browser sends requests on behalf of any open page. A page cannot forge two of
their headers:

- `Origin` names the site of the page. A foreign page may not change anything, unless it sends its
  own credential.
- `Host` is the name by which the browser reached the server. With DNS rebinding, a page points its
  own name to 127.0.0.1 and then counts as same-origin. So the server refuses unknown names. IP
  addresses cannot be rebound.

Clients other than browsers send no Origin.
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
from botdrome.server.network.limits import Bucket
from botdrome.server.settings import BadSetting, Settings

log = structlog.get_logger()

AN_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#@\s]+")
USUAL_PORTS = {"http": ":80", "https": ":443"}
REMEMBERED = 1024
SHOWN = 100
"""Maximum characters of a name quoted in a refusal."""
LOGS_RATE, LOGS_BURST = 1 / 60, 10
"""Refusals logged per second on average, and in one burst."""
LOOKING_UP = 1.0
"""Timeout in seconds for looking up the full name of this machine."""


class OriginRefusal(Struct, frozen=True):
    status: int
    reason: str
    """The HTTP reason phrase."""
    words: str


class Origins:
    def __init__(self, settings: Settings) -> None:
        """Raise BadSetting if `public_url` or `origins` is invalid."""
        own = tuple(public_origins(settings.network.public_url))
        self._listed = {*own, *_origins(settings.network.origins)}
        self._names = {
            "localhost",
            settings.host.lower(),
            *machine_names(),
            *(host_in(url.partition("://")[2]) for url in own),
        }
        self.knows = lru_cache(REMEMBERED)(self._find_host)
        self._trusts = lru_cache(REMEMBERED)(self._find_origin)
        self._logged = Bucket(LOGS_RATE, LOGS_BURST)

    def refusal(
        self, host: bytes | None, origin: bytes | None, open_to_all: bool
    ) -> OriginRefusal | None:
        """Return why a request with these headers is refused, or None.

        `open_to_all` accepts pages of any origin.
        """
        if host and not self.knows(host):
            words = (
                f"this server is not known as {shown(host)}; its operator can set "
                "network.public_url to the clients' URL"
            )
            return self._refuse(OriginRefusal(421, "Misdirected Request", words))
        if open_to_all or origin is None or self.trusts(origin, host):
            return None
        words = (
            f"pages from {shown(origin)} may not do this; the server's operator can list that "
            "origin in the setting origins, "
            "or in network.public_url if it is the server's own"
        )
        return self._refuse(OriginRefusal(403, "Forbidden", words))

    def host_refusal(self, host: bytes | None) -> str:
        """Return why a request for this host is refused; empty: it is accepted."""
        if not host or self.knows(host):
            return ""
        refusal = self.refusal(host, None, True)
        return refusal.words if refusal else ""

    def trusts(self, origin: bytes, host: bytes | None) -> bool:
        """Whether this is the server's own origin, a loopback origin or a listed one."""
        return self._trusts(origin, host or b"")

    def _refuse(self, refusal: OriginRefusal) -> OriginRefusal:
        metrics.REFUSED.labels("origin").inc()
        if self._logged.take():
            log.warning("a request was refused", why=refusal.words)
        return refusal

    def _find_host(self, host: bytes) -> bool:
        text = host.decode("latin-1").lower()
        name = host_in(
            text.rpartition("://")[2].partition("/")[0]
        )  # hand-written clients send whole URLs
        return name in self._names or is_address(name) or name.endswith(".localhost")

    def _find_origin(self, origin: bytes, host: bytes) -> bool:
        given = plain_origin(origin.decode("latin-1"))
        scheme, _, place = given.partition("://")
        if given in self._listed or (place and place == host.decode("latin-1").lower()):
            return True
        return scheme in USUAL_PORTS and is_loopback(host_in(place))


def host_in(place: str) -> str:
    """Return the host of HOST, HOST:PORT, [HOST] or [HOST]:PORT.

    Node clients of socket.io also write ::1:PORT.
    """
    if place.startswith("["):
        return place[1:].partition("]")[0]
    name, colon, port = place.rpartition(":")
    alone = ":" in name and is_address(place)  # an IPv6 address without a port
    return (name if colon and not alone and (port.isdecimal() or not port) else place).removesuffix(
        "."
    )


def is_address(host: str) -> bool:
    """Whether browsers use this host without a DNS lookup: an IPv6 address, or a name that ends in
    a number.
    """
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
    """Return the origin in lower case, without a default port."""
    origin = text.lower().removesuffix("/")
    return origin.removesuffix(USUAL_PORTS.get(origin.partition(":")[0], "/"))


def shown(field: bytes) -> str:
    return ascii(field.decode("latin-1")[:SHOWN])


@cache
def machine_names() -> frozenset[str]:
    """Return the names of this machine. The lookup of the full name has a timeout."""
    name, found = socket.gethostname().lower(), list[str]()
    thread = Thread(target=lambda: found.append(socket.getfqdn().lower()), daemon=True)
    thread.start()
    thread.join(LOOKING_UP)
    return frozenset({name, f"{name.partition('.')[0]}.local", *found})


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[\s,]+", text) if word]


def public_origins(text: str) -> Iterator[str]:
    """Return the origins in the setting `network.public_url`, or raise BadSetting."""
    for word in _words(text):
        try:
            url = urlsplit(word)
            port = f":{url.port}" if url.port else ""
        except ValueError as error:
            raise BadSetting(f"network.public_url: not a URL: {word!r} ({error})") from None
        if url.scheme not in USUAL_PORTS or not url.hostname:
            raise BadSetting(
                f"network.public_url: a URL such as https://arena.example.org, not {word!r}"
            )
        host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
        yield plain_origin(f"{url.scheme}://{host}{port}")


def _origins(text: str) -> Iterator[str]:
    for word in _words(text):
        origin = plain_origin(word)
        if not AN_ORIGIN.fullmatch(origin):
            raise BadSetting(
                f"network.origins: an origin such as https://pages.example.org, not {word!r}"
            )
        yield origin
