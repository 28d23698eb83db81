"""Whether an address is this machine's own, which needs no encryption, or of its network.

A server on either mostly wants no key.
"""

import ipaddress
from urllib.parse import urlsplit

_NETWORK = ("local", "lan", "home", "internal", "localdomain", "home.arpa")
"""Names that only a network of one's own resolves: RFC 6762, RFC 8375, and what routers give."""


def is_loopback(base_url: str) -> bool:
    """Return whether an address is one of this machine's loopback interface."""
    host = (urlsplit(base_url).hostname or "").rstrip(".").lower()
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        # RFC 6761: localhost and every name below it.
        return host.rpartition(".")[2] == "localhost"


def is_near(base_url: str) -> bool:
    """Return whether an address is this machine's, or of its local network."""
    host = (urlsplit(base_url).hostname or "").rstrip(".").lower()
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        ends = tuple(f".{name}" for name in _NETWORK)
        return is_loopback(base_url) or (bool(host) and "." not in host) or host.endswith(ends)
