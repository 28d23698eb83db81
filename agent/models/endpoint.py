"""What is known of an endpoint from its address: whose it is, its wire, and its right path.

Not a client. Invariant: an address that a provider shows its customers leads to its OpenAI surface,
whichever of its pages it was copied from; an unknown address is taken as it is written.
"""

from __future__ import annotations

from enum import StrEnum
from urllib.parse import urlsplit, urlunsplit

import msgspec

OPENAI_URL = "https://api.openai.com/v1"
ANTHROPIC_URL = "https://api.anthropic.com/v1"
_AZURE_HOSTS = (".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com")
_RESPONSES_ONLY = ("codex", "-pro", "deep-research", "computer-use")


class Provider(StrEnum):
    """Whose endpoint it is."""

    OPENAI = "openai"
    AZURE = "azure"
    ANTHROPIC = "anthropic"
    COMPATIBLE = "compatible"
    """Any other that speaks OpenAI's protocol."""


class Wire(StrEnum):
    """Which of OpenAI's two protocols is spoken."""

    CHAT = "chat"
    RESPONSES = "responses"


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """One endpoint."""

    base_url: str
    provider: Provider = Provider.COMPATIBLE
    wire: Wire = Wire.CHAT
    deployment: str = ""
    """The model that the address names, as Azure's older ones do."""

    @property
    def strict(self) -> bool:
        """Whether schemas are sent to be enforced."""
        return self.provider in {Provider.OPENAI, Provider.AZURE}

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).hostname or ""


KEY_VARIABLES = {
    Provider.OPENAI: "OPENAI_API_KEY",
    Provider.AZURE: "AZURE_OPENAI_API_KEY",
    Provider.ANTHROPIC: "ANTHROPIC_API_KEY",
    Provider.COMPATIBLE: "",
}
"""Where each provider's own documentation has the key put."""


def endpoint_for(base_url: str, name: str, wire: str = "auto") -> Endpoint:
    """Read an address.

    Args:
        base_url: as the operator wrote it; empty for the provider that the model's name tells.
        name: the model.
        wire: chat or responses; auto chooses by address and name.
    """
    if not base_url:
        base_url = ANTHROPIC_URL if name.startswith("claude-") else OPENAI_URL
    address, from_path = _without_method(base_url)
    parts = urlsplit(address)
    host = (parts.hostname or "").lower()
    deployment = ""
    if host.endswith(_AZURE_HOSTS):
        provider = Provider.AZURE
        deployment = _after(parts.path, "deployments")
        address = urlunsplit((parts.scheme, parts.netloc, "/openai/v1", "", ""))
    elif host == "api.anthropic.com":
        provider = Provider.ANTHROPIC
        address = ANTHROPIC_URL
    elif host == "api.openai.com":
        provider = Provider.OPENAI
        address = OPENAI_URL if parts.path in {"", "/"} else address
    else:
        provider = Provider.COMPATIBLE
    if wire == "auto":
        named = provider in {Provider.OPENAI, Provider.AZURE} and any(
            part in name for part in _RESPONSES_ONLY
        )
        chosen = from_path or (Wire.RESPONSES if named else Wire.CHAT)
    else:
        chosen = Wire(wire)
    return Endpoint(base_url=address, provider=provider, wire=chosen, deployment=deployment)


def _without_method(url: str) -> tuple[str, Wire | None]:
    """Take off what belongs to one call and not to the endpoint."""
    address = url.strip().partition("?")[0].rstrip("/")
    for tail, wire in (("/chat/completions", Wire.CHAT), ("/responses", Wire.RESPONSES)):
        if address.endswith(tail):
            return address.removesuffix(tail), wire
    return address, None


def _after(path: str, word: str) -> str:
    parts = path.split("/")
    at = parts.index(word) + 1 if word in parts else len(parts)
    return parts[at] if at < len(parts) else ""
