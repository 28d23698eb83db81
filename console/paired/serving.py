"""Put the page of paired phones together: its connection, its certificate, its addresses."""

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

_LOOPBACK = "127.0.0.1"


class PageAddress(NamedTuple):
    """Where phones find the page."""

    url: str
    fingerprint: bytes
    """sha256 of its certificate; empty behind a tunnel, which has one of its own."""


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
    page = PhonePage(core, PairedPhones(data_dir))
    async with page.following():
        if url is not None:
            origin = _origin_of(url)

            def behind_tunnel(_port: int) -> web.Application:
                return page_app(page.reply, frozenset({origin}))

            async with serving(behind_tunnel, host=host or _LOOPBACK, port=port, tls=None):
                yield PageAddress(f"{origin}/", b"")
            return
        name = host or own_address()
        certificate = page_certificate(data_dir, (name,), datetime.now(UTC).replace(microsecond=0))

        def by_tls(bound: int) -> web.Application:
            origins = frozenset({_https(name, bound)})
            return page_app(page.reply, origins, certificate.authority)

        async with serving(by_tls, host=name, port=port, tls=certificate.context) as bound:
            yield PageAddress(f"{_https(name, bound)}/", certificate.fingerprint)


def _https(host: str, port: int) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"https://{shown}" if port == 443 else f"https://{shown}:{port}"


def _origin_of(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme == "https" and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, is_usable = urlsplit(""), False
    if not is_usable or parts.path not in ("", "/") or parts.query or parts.username:
        raise UsageError(
            f"{url[:80]!r} is not the address of a tunnel.",
            "Name its origin alone: --url https://me.example.org",
        )
    return f"https://{parts.netloc.lower()}"
