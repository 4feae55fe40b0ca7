"""The address filter: the addresses and ports that the server may call.

Allowed are loopback and the networks in the settings. A special-purpose range is allowed only by a
network inside it: 0.0.0.0/0 allows the public internet, but neither private networks nor a cloud's
metadata service.
"""

import re
import socket
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import quote, urljoin

import structlog
from msgspec import Struct

from botdrome.server.calling.bot_connection import CallFailed, NotAllowed
from botdrome.server.settings import BadSetting, Settings
from botdrome.version import __version__

# The request of a call: its target, parsed so that it cannot be misread, and its bytes, without
# room for injection.

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
    """A parsed URL.

    Parsing costs more than a call, so `target_of` caches targets and they compare by identity.
    """

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
    """The host in its canonical spelling.

    Spellings that only some parsers read as an IP address are refused.
    """
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
    """Raise ValueError for a header that could break out of its line, or that frames
    the request.
    """
    for name, value in headers.items():
        if (
            not HEADER_NAME.fullmatch(name)
            or not HEADER_VALUE.fullmatch(value)
            or name.lower() in RESERVED
        ):
            raise ValueError(f"no header to send: {name!r}: {value!r}")
    return tuple((name.lower(), value) for name, value in headers.items())


POSTED = b"%bcontent-length: %d\r\n\r\n%b"
"""A request with a body: its head, the length of the body, and the body."""


class BotRequest(Struct, frozen=True, gc=False):
    method: str
    target: Target
    body: bytes
    headers: Headers = ()
    tail: bytes = b""
    """The rest of a large body that several bots share: it is not copied."""

    def encoded(self) -> bytes:
        """All bytes but the tail."""
        if self.method == "GET":
            return self.head + b"\r\n"
        return POSTED % (self.head, len(self.body) + len(self.tail), self.body)

    @property
    def head(self) -> bytes:
        """The request line and the headers but for the length of the body."""
        return _head(self.method, self.target, self.headers)

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


log = structlog.get_logger()

Network = IPv4Network | IPv6Network


def _networks(words: str) -> tuple[Network, ...]:
    return tuple(ip_network(word) for word in words.split())


NEVER = _networks("0.0.0.0/8 224.0.0.0/4 255.255.255.255/32 ::/128 ff00::/8")
"""Unspecified, multicast, broadcast."""
LOOPBACK = _networks("127.0.0.0/8 ::1/128")
METADATA = _networks(
    "169.254.169.254/32 169.254.170.2/32 168.63.129.16/32 100.100.100.200/32 192.0.0.192/32 "
    "fd00:ec2::254/128"
)
"""The metadata services of clouds, which tell a machine its secrets."""
INDIRECT = _networks(
    "::ffff:0:0/96 ::/96 64:ff9b::/96 64:ff9b:1::/48 2002::/16 2001::/32 169.254.0.0/16 fe80::/10"
)
"""IPv4 inside IPv6, and link-local."""
PRIVATE = _networks(
    "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 fc00::/7 fec0::/10 "
    "192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 "
    "240.0.0.0/4 "
    "100::/64 2001:2::/48 2001:10::/28 2001:20::/28 2001:db8::/32 3fff::/20 5f00::/16"
)
"""Private, shared, reserved and documentation networks."""
HOST = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?", re.IGNORECASE)
ALLOWING = "the server's operator can allow it with --allow-bots"
ALLOWING_LOOPBACK = "the server's operator can allow it with --calls-loopback true"


class AddressFilter:
    def __init__(self, settings: Settings) -> None:
        """Raise BadSetting if the configuration is invalid."""
        self._loopback = settings.calls_loopback
        self._open, self._hosts = _allowed(settings.calls.allow)
        self._ports = _ports(settings.calls.ports)
        self.own_ports: frozenset[int] = frozenset()
        """The ports on which this server listens."""
        self.banned: Callable[[str], bool] = lambda _: False
        """Whether the operator has banned an address."""

    def check_port(self, port: int) -> None:
        if not any(port in ports for ports in self._ports):
            raise NotAllowed(
                f"port {port} may not be called; the server's operator can allow it in the setting "
                "calls.ports"
            )

    def check(self, address: Address, host: str, port: int) -> None:
        """NotAllowed unless the server may call this address for this host name."""
        if self.banned(str(address)):
            raise NotAllowed(f"{address} is banned from this server")
        if not self._may_be_called(address, host):
            raise NotAllowed(f"{address} may not be called from this server; {_allowing(address)}")
        if port in self.own_ports and (_within(address, LOOPBACK) or _is_ours(address)):
            raise NotAllowed("the server does not call itself")

    def _may_be_called(self, address: Address, host: str) -> bool:
        if _within(address, NEVER):
            return False
        if self._loopback and _within(address, LOOPBACK):
            return True
        special = [
            network for network in (*LOOPBACK, *METADATA, *INDIRECT, *PRIVATE) if address in network
        ]
        if host in self._hosts:
            return not _within(address, (*LOOPBACK, *METADATA, *INDIRECT))
        if not special and not address.is_global:
            return False
        return any(address in network and _inside(network, special) for network in self._open)


def warn_of_loopback(settings: Settings) -> None:
    """Warn the operator of a public server whether bots on this machine are called."""
    if settings.listens_on_loopback and not (
        settings.network.public_url and settings.calls_loopback
    ):
        return
    if settings.calls_loopback:
        log.warning(
            "others can have this server call any service on this machine; --calls-loopback false "
            "forbids it"
        )
    elif settings.calls.loopback is None:
        log.warning(
            "bots on this machine are not called, as others can reach the server; --calls-loopback "
            "true allows it"
        )


def _allowing(address: Address) -> str:
    """How the operator can allow this address."""
    if _within(address, NEVER):
        return "it is no address of one machine"
    return ALLOWING_LOOPBACK if _within(address, LOOPBACK) else f"{ALLOWING} {address}"


def _within(address: Address, networks: Iterable[Network]) -> bool:
    return any(address in network for network in networks)


def _inside(network: Network, special: Iterable[Network]) -> bool:
    return all(network.version == outer.version and network.subnet_of(outer) for outer in special)  # type: ignore[arg-type]


def _is_ours(address: Address) -> bool:
    """Whether it is an address of this machine: a socket can be bound to no other."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(address), 0))
        except OSError:
            return False
    return True


def _allowed(words: str) -> tuple[tuple[Network, ...], frozenset[str]]:
    networks, hosts = [], set()
    for word in re.split(r"[\s,]+", words.strip()) if words.strip() else ():
        try:
            networks.append(ip_network(word))
        except ValueError as error:
            if (
                "/" in word
                or ":" in word
                or not HOST.fullmatch(word)
                or word.rpartition(".")[2].isdecimal()
            ):
                raise BadSetting(
                    f"calls.allow: neither a network nor a host: {word!r} ({error})"
                ) from None
            hosts.add(word.lower())
    return tuple(networks), frozenset(hosts)


def _ports(words: str) -> tuple[range, ...]:
    found = []
    for word in re.split(r"[\s,]+", words.strip()):
        parts = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?", word)
        if parts is None:
            raise BadSetting(f"calls.ports: neither a port nor FROM-TO: {word!r}")
        found.append(range(int(parts[1]), int(parts[2] or parts[1]) + 1))
    return tuple(found)
