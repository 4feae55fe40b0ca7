"""The request of a call: its target, parsed so that it cannot be misread, and its bytes, without room for injection."""

import re
from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import quote, urljoin

from msgspec import Struct

from botdrome import __version__
from botdrome.server.calling.answer import CallFailed, NotAllowed

LONGEST_URL = 2048
PORTS = {"http": 80, "https": 443}
URL = re.compile(r"(https?)://([^/?#]*)([^#]*)(?:#.*)?", re.IGNORECASE)
AUTHORITY = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+))(?::([0-9]{1,5}))?")
NUMBER = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]*")
LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)")
KEPT = "".join(map(chr, range(0x21, 0x7F)))
"""Characters of a path that are not percent-encoded."""

Address = IPv4Address | IPv6Address


class Target(Struct, frozen=True, eq=False):
    """A parsed URL. Parsing costs more than a call, so `target_of` caches targets and they compare by identity."""

    scheme: str
    host: str
    """A name in lower case, or an address as the ipaddress module writes it."""
    address: Address | None
    """Set if the host is an IP address: then there is no DNS lookup."""
    port: int
    path: str
    """Path and query."""
    origin: tuple[str, str, int]
    """Scheme, host and port."""

    @property
    def tls(self) -> bool:
        return self.scheme == "https"

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


@lru_cache(4096)
def target_of(url: str) -> Target:
    """Parse a URL from an untrusted user. Raise NotAllowed if it is malformed or ambiguous."""
    if len(url) > LONGEST_URL:
        raise NotAllowed(f"an address has at most {LONGEST_URL} characters")
    if not url.isprintable() or any(char.isspace() or char == "\\" for char in url):
        raise NotAllowed("an address has no blanks, backslashes or control characters")
    found = URL.fullmatch(url)
    if found is None:
        raise NotAllowed("an address begins with http:// or https://")
    scheme, authority, path = found[1].lower(), found[2], found[3]
    if "@" in authority:
        raise NotAllowed("an address has no user name or password")
    parts = AUTHORITY.fullmatch(authority)
    if parts is None:
        raise NotAllowed(f"{authority[:100]!r} is no host")
    host, address = _host(parts[1], parts[2])
    port = PORTS[scheme] if parts[3] is None else int(parts[3])
    if not 0 < port < 65536:
        raise NotAllowed(f"there is no port {port}")
    path = quote(path if path.startswith("/") else "/" + path, KEPT)
    return Target(scheme, host, address, port, path, (scheme, host, port))


def _host(literal: str | None, name: str) -> tuple[str, Address | None]:
    """The host in its canonical spelling. Spellings that only some parsers read as an IP address are refused."""
    try:
        if literal is not None:
            address: Address = IPv6Address(literal)
            return str(address), address
        host = name.lower().removesuffix(".")
        if NUMBER.fullmatch(host.rpartition(".")[2]):
            address = IPv4Address(name)
            return str(address), address
    except ValueError:
        raise NotAllowed(f"{(literal or name)[:100]!r} is an odd way to write an address") from None
    if len(host) > 253 or not all(LABEL.fullmatch(label) for label in host.split(".")):
        raise NotAllowed(f"{name[:100]!r} is no host")
    return host, None


def redirect_target(target: Target, location: bytes) -> Target:
    """The target of a redirect, parsed as strictly as any other URL."""
    try:
        text = location.decode()
    except UnicodeDecodeError:
        raise CallFailed("the redirect leads nowhere") from None
    if not text.isprintable():
        raise NotAllowed("an address has no blanks, backslashes or control characters")
    try:
        return target_of(urljoin(f"{target.scheme}://{target.host_header}{target.path}", text))
    except ValueError:
        raise CallFailed("the redirect leads nowhere") from None


def plain_address(text: str) -> Address:
    """An address as the system writes it, without its zone."""
    return ip_address(text.partition("%")[0])


HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
HEADER_VALUE = re.compile(r"[\x20-\x7e\t]*")
DEFAULTS = {
    "accept": "*/*",
    "accept-encoding": "gzip, deflate",
    "content-type": "application/json",
    "user-agent": f"botdrome/{__version__}",
}
RESERVED = {"host", "content-length", "transfer-encoding", "connection", "expect", "upgrade"}

Headers = tuple[tuple[str, str], ...]


def checked(headers: Mapping[str, str]) -> Headers:
    """Raise ValueError for a header that could break out of its line, or that frames the request."""
    for name, value in headers.items():
        if not HEADER_NAME.fullmatch(name) or not HEADER_VALUE.fullmatch(value) or name.lower() in RESERVED:
            raise ValueError(f"no header to send: {name!r}: {value!r}")
    return tuple((name.lower(), value) for name, value in headers.items())


class BotRequest(Struct, frozen=True, gc=False):
    method: str
    target: Target
    body: bytes
    headers: Headers = ()
    tail: bytes = b""
    """The rest of a large body that several bots share: it is not copied."""

    def encoded(self) -> bytes:
        """All bytes but the tail."""
        head, body = _head(self.method, self.target, self.headers), self.body
        if self.method == "GET":
            return head + b"\r\n"
        return b"%bcontent-length: %d\r\n\r\n%b" % (head, len(body) + len(self.tail), body)

    def redirected(self, status: int, target: Target) -> "BotRequest":
        """307 and 308 keep method and body. Headers are not sent to another origin."""
        headers = self.headers if target.origin == self.target.origin else ()
        if status in (307, 308):
            return BotRequest(self.method, target, self.body, headers, self.tail)
        return BotRequest("GET", target, b"", headers)


@lru_cache(4096)
def _head(method: str, target: Target, headers: Headers) -> bytes:
    fields = {"host": target.host_header} | DEFAULTS | dict(headers)
    if method == "GET":
        del fields["content-type"]
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"{method} {target.path} HTTP/1.1\r\n{lines}".encode("ascii")
