"""Which endpoint the token of a login may be sent to: the one that it was made for.

Not the login. Invariants: scheme, host and port are compared, never a part of them; a token is sent
without encryption to this machine alone.
"""

from urllib.parse import urlsplit

from agent.errors import ConfigError
from agent.models.catalog import catalog
from agent.models.loopback import is_loopback
from agent.text import one_line

_PORTS = {"http": 80, "https": 443}
_SIGN_IN = "Sign in for it: switchboard login. Or keep a key for it: switchboard login --key"


def origin_of(address: str) -> str:
    """Return scheme, host and port of an address, without its scheme's own port.

    Returns:
        Such as `https://api.example.com`; empty for what is no address.
    """
    try:
        parts = urlsplit(address.strip())
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return ""
    if not host or parts.scheme not in _PORTS:
        return ""
    shown = f"[{host}]" if ":" in host else host
    at = "" if port is None or port == _PORTS[parts.scheme] else f":{port}"
    return f"{parts.scheme}://{shown}{at}"


def secure_origin(address: str) -> str:
    """Return the origin of an endpoint that a login may be made for.

    Raises:
        ConfigError: a token would go there without encryption.
    """
    origin = origin_of(address)
    if origin.startswith("https://") or (origin and is_loopback(address)):
        return origin
    raise ConfigError(
        f"The token of a login is not sent to {one_line(origin or address, 200)} (model.base_url) "
        "without encryption.",
        "Set model.base_url to an https address, or to one of this machine.",
    )


def is_made_for(origin: str, issuer: str, address: str) -> bool:
    """Return whether the token of a login may be sent to an address.

    Args:
        origin: what the login was made for; empty in one that was kept without it, which counts
            for a provider's own endpoint where its issuer is the provider's as well.
        issuer: who gave the token.
    """
    asked = origin_of(address)
    if not asked or not (asked.startswith("https://") or is_loopback(address)):
        return False
    return asked == origin if origin else _is_own(issuer, address, asked)


def not_made_for(origin: str, issuer: str, address: str) -> ConfigError:
    """Return the error for an endpoint that a login was not made for."""
    asked = one_line(origin_of(address) or address, 200)
    if not origin:
        return ConfigError(
            f"The login at {one_line(issuer, 200)} does not say which endpoint it is for, so its "
            f"token is not sent to {asked} (model.base_url).",
            _SIGN_IN,
        )
    return ConfigError(
        f"The login is for {one_line(origin, 200)}, and its token is not sent to {asked} "
        "(model.base_url).",
        _SIGN_IN,
    )


def _is_own(issuer: str, address: str, asked: str) -> bool:
    preset = catalog().at(address)
    if preset is None or preset.local or asked != origin_of(preset.base_url):
        return False
    labels = (urlsplit(issuer).hostname or "").rstrip(".").split(".")
    # auth.provider.example signs in for api.provider.example.
    site = ".".join(labels[1:] if len(labels) > 2 else labels)
    return f".{preset.host}".endswith(f".{site}")
