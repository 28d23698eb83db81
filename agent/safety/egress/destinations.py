"""Read addresses as a network would, whatever they are written as, and say who may be spoken to.

Not the connection (`agent.watchers.web` has its own checks). Invariants: a host is compared in the
one form that a resolver would use; what an address carries is shown decoded; a destination that
cannot be read is allowed to nobody.

Sources: RFC 3986 for the parts; the WHATWG URL standard for what browsers add (backslashes,
numeric hosts in decimal, octal and hexadecimal, ideographic full stops).
"""

import re
import socket
from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit

import msgspec

from agent.language.normal_form import normal_form
from agent.text import one_line

_MOST_CHARS = 4000
_ROUNDS = 5  # How often something may be percent-encoded.
_DOTS = str.maketrans({"\u3002": ".", "\uff0e": ".", "\uff61": ".", "\\": "/"})
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]{1,20}):", re.IGNORECASE)
_BARE_HOST = re.compile(
    r"(?:[^\s/?#@]{1,200}@)?(?:(?:[\w-]{1,63}\.){1,20}(?:xn--[\w-]{2,59}|[^\W\d_]{2,63})|localhost"
    r"|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.%]+\]|0x[0-9a-f]{6,8}|\d{8,10})\.?(?::\d{1,5})?(?:[/?#].*)?",
    re.IGNORECASE | re.DOTALL,
)
_HOST_IN_TEXT = re.compile(
    r"(?<![\w@.-])(?:https?://)?((?:[\w-]{1,63}\.){1,10}[^\W\d_]{2,24})(?![\w@-])", re.IGNORECASE
)
_WEB = frozenset({"http", "https", "ws", "wss", "ftp"})
_OPENED = frozenset(
    {
        *("intent", "android-app", "data", "javascript", "view-source", "blob", "file", "content"),
        *("mailto", "sms", "smsto", "mms", "mmsto", "tel", "market", "geo", "about"),
    }
)
"""Schemes that need no slashes; any other is opened where slashes follow it."""
_PUNYCODE = "xn--"


class Destination(msgspec.Struct, frozen=True, kw_only=True):
    """Where an address leads, and what it would take there."""

    scheme: str
    host: str = ""
    """In the form that is resolved: lower case, ASCII, an IP address in its usual form."""
    port: int | None = None
    carried: str = ""
    """The path, query and fragment, decoded."""
    notes: tuple[str, ...] = ()
    """What a person should know of how it is written."""

    @property
    def shown_host(self) -> str:
        """The host as a person reads it, with its ASCII form where that is another."""
        if ":" in self.host:
            return f"[{self.host}]"
        if _PUNYCODE not in self.host:
            return self.host
        labels = [_label(label) for label in self.host.split(".")]
        return f"{'.'.join(labels)} ({self.host})"

    @property
    def shown(self) -> str:
        """The whole address, decoded, on one line."""
        port = "" if self.port is None else f":{self.port}"
        where = f"{self.scheme}://{self.shown_host}{port}" if self.host else f"{self.scheme}:"
        noted = f" [{'; '.join(self.notes)}]" if self.notes else ""
        return one_line(f"{where}{self.carried}{noted}", 600)


def read_destination(text: str) -> Destination | None:
    """Read a text as an address, as the address bar of a browser would; None: it is none."""
    bare = normal_form(text[:_MOST_CHARS].strip().translate(_DOTS)).text.strip()
    bare = "".join(bare.split("\n")[:1]).strip()
    scheme = _SCHEME.match(bare)
    name = "" if scheme is None else scheme[1].lower()
    is_opened = name in _WEB or name in _OPENED or bare[len(name) :].startswith("://")
    if scheme is None or not is_opened:
        bare = bare.lstrip("/")
        return _read("https", f"//{bare}") if _BARE_HOST.fullmatch(bare) else None
    if name not in _WEB:
        return Destination(scheme=name, carried=_decoded(bare[scheme.end() :])[0])
    rest = bare[scheme.end() :]
    return _read(name, "//" + rest.lstrip("/"))


def _read(scheme: str, rest: str) -> Destination | None:
    try:
        parts = urlsplit(rest)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return Destination(scheme=scheme, carried=rest, notes=("it cannot be read",))
    if not host:
        return None
    notes: list[str] = []
    if "@" in parts.netloc:
        name = _decoded(parts.netloc.rpartition("@")[0])[0]
        notes.append(f"{one_line(name, 80)!r} before the @ is not a host")
    carried, was_encoded = _decoded(rest[2 + len(parts.netloc) :])
    if was_encoded:
        notes.append("it was percent-encoded")
    plain_host = _host(_decoded(host)[0])
    if plain_host != host.lower().rstrip("."):
        notes.append(f"the host is written as {one_line(host, 80)}")
    return Destination(
        scheme=scheme,
        host=plain_host,
        port=port,
        carried="" if carried == "/" else carried,
        notes=tuple(notes),
    )


def _decoded(text: str) -> tuple[str, bool]:
    """Decode percents until there are none; whether there were any beside plain spaces."""
    at = text
    for _ in range(_ROUNDS):
        after = unquote(at)
        if after == at:
            break
        at = after
    return at, at != text


def _host(host: str) -> str:
    low = host.lower().rstrip(".").partition("%")[0]
    try:
        return str(ip_address(low))
    except ValueError:
        pass
    if re.fullmatch(r"(?:0x[0-9a-f]*|[0-9]+)(?:\.(?:0x[0-9a-f]*|[0-9]+)){0,3}", low):
        try:
            # The resolver's own reading of decimal, octal and hexadecimal addresses.
            return socket.inet_ntoa(socket.inet_aton(low))
        except OSError:
            return low
    try:
        return low if low.isascii() else low.encode("idna").decode()
    except UnicodeError:
        return low


def _label(label: str) -> str:
    try:
        return label.encode("ascii").decode("idna") if label.startswith(_PUNYCODE) else label
    except UnicodeError:
        return label


def hosts_in(text: str) -> frozenset[str]:
    """Return the hosts that a text names, as the operator's goal does."""
    found = (_host(match[1]) for match in _HOST_IN_TEXT.finditer(text[: _MOST_CHARS * 2]))
    return frozenset(host.removeprefix("www.") for host in found)


def is_allowed(to: Destination, *, goal: str, listed: Collection[str]) -> bool:
    """Return whether data may go to a destination without a person.

    Args:
        goal: the operator's own words; a host that they name is allowed, with its subdomains.
        listed: hosts of the operator's settings.
    """
    if to.scheme not in {"http", "https"} or not to.host or to.port not in {None, 80, 443}:
        return False
    named = {_host(name.strip().removeprefix("*.")) for name in listed} | hosts_in(goal)
    return any(is_same_site(to.host, host) for host in named)


def is_same_site(host: str, site: str) -> bool:
    """Return whether a host is a site's own: itself, or below it."""
    site = site.removeprefix("www.")
    return bool(site) and (host == site or host.endswith(f".{site}"))
