"""The address filter: the addresses and ports that the server may call.

Allowed are loopback and the networks in the settings. A special-purpose range is allowed only by a network inside it:
0.0.0.0/0 allows the public internet, but neither private networks nor a cloud's metadata service.
"""

import re
import socket
from collections.abc import Callable, Iterable
from ipaddress import IPv4Network, IPv6Network, ip_network

import structlog

from botdrome.server.calling.answer import NotAllowed
from botdrome.server.calling.request import Address
from botdrome.server.settings import BadSetting, Settings

log = structlog.get_logger()

Network = IPv4Network | IPv6Network


def _networks(words: str) -> tuple[Network, ...]:
    return tuple(ip_network(word) for word in words.split())


NEVER = _networks("0.0.0.0/8 224.0.0.0/4 255.255.255.255/32 ::/128 ff00::/8")
"""Unspecified, multicast, broadcast."""
LOOPBACK = _networks("127.0.0.0/8 ::1/128")
METADATA = _networks("169.254.169.254/32 169.254.170.2/32 168.63.129.16/32 100.100.100.200/32 192.0.0.192/32 fd00:ec2::254/128")
"""The metadata services of clouds, which tell a machine its secrets."""
INDIRECT = _networks("::ffff:0:0/96 ::/96 64:ff9b::/96 64:ff9b:1::/48 2002::/16 2001::/32 169.254.0.0/16 fe80::/10")
"""IPv4 inside IPv6, and link-local."""
PRIVATE = _networks(
    "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 fc00::/7 fec0::/10 "
    "192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 "
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
            raise NotAllowed(f"port {port} may not be called; the server's operator can allow it in the setting calls.ports")

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
        special = [network for network in (*LOOPBACK, *METADATA, *INDIRECT, *PRIVATE) if address in network]
        if host in self._hosts:
            return not _within(address, (*LOOPBACK, *METADATA, *INDIRECT))
        if not special and not address.is_global:
            return False
        return any(address in network and _inside(network, special) for network in self._open)


def warn_of_loopback(settings: Settings) -> None:
    """Warn the operator of a public server whether bots on this machine are called."""
    if settings.listens_on_loopback and not (settings.network.public_url and settings.calls_loopback):
        return
    if settings.calls_loopback:
        log.warning("others can have this server call any service on this machine; --calls-loopback false forbids it")
    elif settings.calls.loopback is None:
        log.warning("bots on this machine are not called, as others can reach the server; --calls-loopback true allows it")


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
            if "/" in word or ":" in word or not HOST.fullmatch(word) or word.rpartition(".")[2].isdecimal():
                raise BadSetting(f"calls.allow: neither a network nor a host: {word!r} ({error})") from None
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
