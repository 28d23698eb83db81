"""Put the page of paired phones together: its connection, its certificate, its addresses."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from aiohttp import web

from agent.consent.paired_phones import PairedPhones
from agent.errors import UsageError
from agent.rpc.remote_core import Client
from console.paired.certificate import own_address, page_certificate
from console.paired.page_server import page_app, serving
from console.paired.phone_page import PhonePage
from console.paired.push_sender import PushSender
from console.paired.relay_link import RelayLink
from console.paired.sealing import new_secret

_LOOPBACK = "127.0.0.1"
_OWN_NAMES = frozenset({"localhost", _LOOPBACK})


class PageAddress(NamedTuple):
    """Where phones find the page."""

    url: str
    fingerprint: bytes
    """sha256 of its certificate; empty behind a tunnel, which has one of its own."""
    secret: bytes = b""
    """What seals it on its way through a relay; empty: there is none."""


@asynccontextmanager
async def serving_page(
    core: Client, data_dir: Path, *, host: str | None, port: int, url: str | None
) -> AsyncIterator[PageAddress]:
    """Serve the page for the length of a `with` block.

    Args:
        core: what it shows and acts on.
        data_dir: where the paired phones and the authority are kept.
        host: the address to listen on; None: this computer's own in its network, and behind a
            tunnel loopback.
        port: 0 = any free one.
        url: of the tunnel that leads here; None: phones come by TLS.

    Raises:
        UsageError: the address or the URL cannot be used.
        ConfigError: the certificate cannot be made.
    """
    origin = None if url is None else _origin_of(url)
    name = host or (own_address() if origin is None else _LOOPBACK)
    certificate = None
    if origin is None:
        now = datetime.now(UTC).replace(microsecond=0)
        certificate = page_certificate(data_dir, (name,), now)
    phones = PairedPhones(data_dir)
    pushes = PushSender(data_dir, phones, origin or _https(name, 443), _now_ms)
    page = PhonePage(core, phones, pushes=pushes, clock_ms=_now_ms)

    def make(bound: int) -> web.Application:
        reached_by = frozenset({origin or _https(name, bound)})
        return page_app(page.reply, reached_by, certificate.authority if certificate else b"")

    context = certificate.context if certificate else None
    async with page.following(), serving(make, host=name, port=port, tls=context) as bound:
        fingerprint = certificate.fingerprint if certificate else b""
        yield PageAddress(f"{origin or _https(name, bound)}/", fingerprint)


@asynccontextmanager
async def relaying_page(
    core: Client, data_dir: Path, relay: str, *, pairs: bool
) -> AsyncIterator[PageAddress]:
    """Serve the page through a relay for the length of a `with` block.

    Args:
        core: what it shows and acts on.
        data_dir: where the paired phones and their secrets are kept.
        relay: its address.
        pairs: whether a phone is to be paired.

    Raises:
        UsageError: the address cannot be used.
    """
    origin, phones = _origin_of(relay, what="relay"), PairedPhones(data_dir)
    pushes = PushSender(data_dir, phones, origin, _now_ms)
    page = PhonePage(core, phones, pushes=pushes, clock_ms=_now_ms)
    link = RelayLink(origin, page.reply, data_dir, phones)
    secret = new_secret() if pairs else b""
    async with page.following(), link.fetching(secret):
        yield PageAddress(f"{origin}/", b"", secret)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _https(host: str, port: int) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"https://{shown}" if port == 443 else f"https://{shown}:{port}"


def _origin_of(url: str, what: str = "url") -> str:
    try:
        parts = urlsplit(url)
        is_usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, is_usable = urlsplit(""), False
    # A relay on this computer is for trying it out.
    is_own = what == "relay" and parts.scheme == "http" and parts.hostname in _OWN_NAMES
    is_usable = is_usable and (parts.scheme == "https" or is_own)
    if not is_usable or parts.path not in ("", "/") or parts.query or parts.username:
        raise UsageError(
            f"{url[:80]!r} is not the address of a {'relay' if what == 'relay' else 'tunnel'}.",
            f"Name its origin alone: --{what} https://me.example.org",
        )
    return f"{parts.scheme}://{parts.netloc.lower()}"
