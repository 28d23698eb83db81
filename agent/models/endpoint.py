"""What is known of an endpoint from its address or a model's name: whose it is, its wire, its path.

Not a client. Invariant: an address that a provider shows its customers leads to its surface for
programs, whichever of its pages it was copied from; an unknown address is taken as it is written.
"""

from enum import StrEnum
from urllib.parse import urlsplit, urlunsplit

import msgspec

from agent.errors import ConfigError
from agent.models.catalog import ModelFacts, Preset, catalog, facts_of
from agent.models.login_origin import origin_of
from agent.models.loopback import is_loopback, is_near
from agent.models.wires import WIRES
from agent.models.wires.call_ids import CallIds
from agent.settings import Wire
from agent.text import one_line

OPENAI_URL = "https://api.openai.com/v1"
ANTHROPIC_URL = "https://api.anthropic.com/v1"
_AZURE_HOSTS = (".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com")
_RESPONSES_ONLY = ("codex", "-pro", "deep-research", "computer-use")


class Provider(StrEnum):
    """Whose endpoint it is."""

    OPENAI = "openai"
    AZURE = "azure"
    ANTHROPIC = "anthropic"
    COMPATIBLE = "compatible"  # Any other that speaks OpenAI's protocol.


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where a model is asked, and by which wire."""

    base_url: str
    provider: Provider = Provider.COMPATIBLE
    wire: Wire = Wire.CHAT
    deployment: str = ""  # The model that the address names, as Azure's older ones do.
    model: str = ""  # The model as the endpoint calls it.
    preset: str = ""  # Its provider in `agent.models.catalog`, where the address does not tell it.

    @property
    def strict(self) -> bool:
        """Whether schemas are sent to be enforced."""
        return self.provider in {Provider.OPENAI, Provider.AZURE}

    @property
    def caches_by_key(self) -> bool:
        """Whether calls may name their conversation (`prompt_cache_key`)."""
        return self.provider in {Provider.OPENAI, Provider.AZURE}

    @property
    def row(self) -> Preset | None:
        """What is known of its provider; None for one that is not in the table."""
        table = catalog()
        return table.presets.get(self.preset) or table.at(self.base_url)

    @property
    def facts(self) -> ModelFacts:
        row = self.row
        return facts_of(self.model, self.base_url) if row is None else row.facts(self.model)

    @property
    def without(self) -> tuple[str, ...]:
        """What it does not take, by the names of the client's dialect."""
        return () if self.row is None else self.row.without

    @property
    def call_ids(self) -> CallIds:
        """Which ids of calls it accepts, as far as its provider is known."""
        return CallIds.USUAL if self.row is None else CallIds(self.row.call_ids)

    @property
    def signs_calls(self) -> bool:
        """Whether each call has to go back with its signature."""
        return self.row is not None and self.row.signs_calls

    @property
    def key_variable(self) -> str:
        """The environment variable of its own key; empty where none is known or wanted."""
        if self.provider is Provider.AZURE:
            return "AZURE_OPENAI_API_KEY"
        return "" if self.row is None else self.row.key

    @property
    def is_local(self) -> bool:
        """Whether it runs on this machine."""
        return is_loopback(self.base_url)

    @property
    def is_near(self) -> bool:
        """Whether it runs on this machine or its network, where a server may want no key."""
        return is_near(self.base_url)

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).hostname or ""

    @property
    def origin(self) -> str:
        """Its scheme, host and port: what a key is bound to."""
        return origin_of(self.base_url)

    @property
    def key_name(self) -> str:
        """What its key is kept under: its origin, of which https on the usual port is not said."""
        bare = self.origin.removeprefix("https://")
        return self.host if bare in {self.host, f"[{self.host}]"} else self.origin


def endpoint_for(base_url: str, name: str, wire: str = "auto") -> Endpoint:
    """Read an address.

    Args:
        base_url: as the operator wrote it; empty for the provider that the model's name tells.
        name: the model, as `model.name` has it.
        wire: one of `Wire`, or auto, which chooses by provider, address and name.

    Raises:
        ConfigError: it is not an address.
    """
    try:
        return _endpoint_for(base_url, name, wire)
    except ValueError as error:
        raise ConfigError(
            f"model.base_url is not an address: {one_line(base_url, 200)}.",
            "Write it as http://HOST:PORT/v1.",
        ) from error


def _endpoint_for(base_url: str, name: str, wire: str) -> Endpoint:
    table = catalog()
    model = name
    if base_url:
        address, from_path = _without_method(base_url)
        preset = table.at(address)
        named, rest = table.named(name)
        if named is not None and named.local and rest != name and is_loopback(address):
            # A server of this machine on another port than its usual one.
            preset, model = named, rest
    else:
        preset, model = table.named(name)
        preset = preset or table.presets["openai"]
        address, from_path = preset.base_url, None
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
        named_so = provider in {Provider.OPENAI, Provider.AZURE} and any(
            part in model for part in _RESPONSES_ONLY
        )
        usual = Wire.CHAT if preset is None else Wire(preset.wire)
        chosen = from_path or (Wire.RESPONSES if named_so else usual)
    else:
        chosen = Wire(wire)
    return Endpoint(
        base_url=address,
        provider=provider,
        wire=chosen,
        deployment=deployment,
        model=deployment or model,
        preset="" if preset is None else preset.name,
    )


def _without_method(url: str) -> tuple[str, Wire | None]:
    address = url.strip().partition("?")[0].rstrip("/")
    for wire, row in WIRES.items():
        if address.endswith(row.path):
            return address.removesuffix(row.path), wire
    return address, None


def _after(path: str, word: str) -> str:
    parts = path.split("/")
    at = parts.index(word) + 1 if word in parts else len(parts)
    return parts[at] if at < len(parts) else ""
