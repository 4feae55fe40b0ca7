"""Target: where a call goes, read from an address that anybody may have typed in. What can be misread is refused."""

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import quote, urljoin

from msgspec import Struct

from botdrome.server.calling.answer import CallFailed, NotAllowed

LONGEST_URL = 2048
PORTS = {"http": 80, "https": 443}
URL = re.compile(r"(https?)://([^/?#]*)([^#]*)(?:#.*)?", re.IGNORECASE)
AUTHORITY = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+))(?::([0-9]{1,5}))?")
NUMBER = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]*")
LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)")
KEPT = "".join(map(chr, range(0x21, 0x7F)))
"""Characters of a path that go out as they are."""

Address = IPv4Address | IPv6Address


class Target(Struct, frozen=True, eq=False):
    """Reading one costs more than a call, so those that were read are remembered, and told apart by what they are."""

    scheme: str
    host: str
    """A name in small letters, or an address as the ipaddress module writes it."""
    address: Address | None
    """Where the host is one: then nothing is looked up."""
    port: int
    path: str
    """With the query."""
    origin: tuple[str, str, int]
    """What tells one server from another."""

    @property
    def tls(self) -> bool:
        return self.scheme == "https"

    @property
    def place(self) -> str:
        """As the Host header says it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


@lru_cache(4096)
def target_of(url: str) -> Target:
    """CallFailed where it is no address that can be called."""
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
    """A host in one of its plain spellings. Those that only some readers take for an address are refused."""
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


def led_on(target: Target, location: bytes) -> Target:
    """Where a redirect leads, read as carefully as any other address."""
    try:
        text = location.decode()
    except UnicodeDecodeError:
        raise CallFailed("the redirect leads nowhere") from None
    if not text.isprintable():
        raise NotAllowed("an address has no blanks, backslashes or control characters")
    try:
        return target_of(urljoin(f"{target.scheme}://{target.place}{target.path}", text))
    except ValueError:
        raise CallFailed("the redirect leads nowhere") from None


def plain_address(text: str) -> Address:
    """An address as the system gives it, without its zone."""
    return ip_address(text.partition("%")[0])
