"""Which addresses of the network a watcher may speak to, pure.

Not the resolving and not the connection (`agent.watchers.web`). Invariant: an address that leads to
this machine, its neighbours or nobody is not public, in whatever other address it is wrapped.
"""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052: the last four bytes are an IPv4 address.
_LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")
"""RFC 8215: translates to whatever the local network likes."""


def is_public(address: str) -> bool:
    """Return whether an IP address is one of the public internet; False for what is no address."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    inner = _unwrapped(found)
    if inner is not None:
        return is_public(str(inner))
    if isinstance(found, IPv6Address) and found in _LOCAL_NAT64:
        return False
    return (
        found.is_global
        and not found.is_multicast
        and not found.is_reserved
        and not found.is_loopback
        and not found.is_link_local
        and not found.is_unspecified
    )


def _unwrapped(found: IPv4Address | IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address stands for."""
    if isinstance(found, IPv4Address):
        return None
    if found.ipv4_mapped is not None:
        return found.ipv4_mapped
    if found.sixtofour is not None:
        return found.sixtofour
    if found.teredo is not None:
        return found.teredo[1]
    if found in _NAT64:
        return IPv4Address(found.packed[-4:])
    return None
