"""Proxies trusted to report the address of a client."""

from ipaddress import IPv6Address, ip_address, ip_network

from botdrome.server.settings import BadSetting, Settings


class Proxies:
    """The networks of the setting `network.trusted_proxies`. Addresses reported by other hosts are ignored."""

    def __init__(self, settings: Settings) -> None:
        try:
            self._networks = [ip_network(word.strip()) for word in settings.network.trusted_proxies.split(",") if word.strip()]
        except ValueError as problem:
            raise BadSetting(f"network.trusted_proxies: {problem}; networks are written like 10.1.0.0/16 or 127.0.0.1") from None

    def trust(self, address: str) -> bool:
        if not self._networks:
            return False
        try:
            found = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        plain = found.ipv4_mapped or found if isinstance(found, IPv6Address) else found
        return any(plain in network for network in self._networks)

    def client_of(self, address: str, forwarded: str) -> str:
        """Return the address of a client by `X-Forwarded-For`, to which each proxy appends the address of its peer."""
        for word in reversed(forwarded.split(",")):
            if not self.trust(address):
                break
            try:
                address = str(ip_address(word.strip().partition("%")[0]))
            except ValueError:
                break
        return address
