"""Whether an address is this machine's own, which needs no encryption and no key."""

import ipaddress
from urllib.parse import urlsplit


def is_loopback(base_url: str) -> bool:
    """Return whether an address is one of this machine's loopback interface."""
    host = (urlsplit(base_url).hostname or "").rstrip(".").lower()
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        # RFC 6761: localhost and every name below it.
        return host.rpartition(".")[2] == "localhost"
