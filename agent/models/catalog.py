"""What is known of providers and their models: one dated table, and the operator's own prices.

Not a list of all models: a name that is not in it is used as it is written. Invariant: nothing is
guessed; what the table does not say is 0, None or empty.
"""

import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from agent.errors import ConfigError
from agent.models.prices import Price
from agent.text import one_line

FILE_NAME = "catalog.toml"
PRICE_FILE = "prices.toml"  # The operator's own prices, beside the settings file.
_MAX_BYTES = 1_000_000
_MAX_HOPS = 5


class ModelFacts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known of one model."""

    window: int = 0  # Tokens of conversation and answer together; 0 when not known.
    output: int = 0  # The most tokens of one answer; 0 when not known.
    vision: bool | None = None  # Whether it takes pictures; None when not known.
    reasons: bool = False  # Whether it thinks before it answers, in tokens that count as output.
    price: Price | None = None


class Retirement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A name that its provider withdraws."""

    successor: str
    on: date | None = None  # When; None: it is gone.


class Preset(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One provider."""

    name: str = ""
    title: str
    base_url: str
    key: str = ""
    """The environment variable that holds its key; empty where none is wanted."""
    key_page: str = ""
    wire: str = "chat"
    prefixes: tuple[str, ...] = ()
    """What names of its own models begin with."""
    default: str = ""
    small: str = ""
    """A fast and cheap model, for short questions beside the work; empty where none is known."""
    local: bool = False
    """Whether it runs on this machine."""
    former_ports: tuple[int, ...] = ()
    """Where older versions of a local server listen."""
    window: int = 0
    output: int = 0
    without: tuple[str, ...] = ()
    """What its endpoint does not take, by the names of `agent.models.openai.dialect`."""
    call_ids: str = "usual"
    """Which ids of calls its endpoint accepts, by the names of `agent.models.wires.call_ids`."""
    signs_calls: bool = False
    """Whether its endpoint wants the signature of each call back."""
    models: dict[str, ModelFacts] = {}
    retired: dict[str, Retirement | str] = {}

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).hostname or ""

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where it may listen, the likeliest first."""
        own = urlsplit(self.base_url)
        former = (own._replace(netloc=f"{own.hostname}:{port}") for port in self.former_ports)
        return (self.base_url, *(one.geturl() for one in former))

    def facts(self, model: str) -> ModelFacts:
        """Return what is known of a model by its name, or by the name that a dated one begins with.

        `gpt-5-mini-2025-08-07` is a dated `gpt-5-mini`; `gpt-5-miniature` is another model.
        """
        found = self.models.get(longest(model, self.models), ModelFacts())
        return msgspec.structs.replace(
            found, window=found.window or self.window, output=found.output or self.output
        )


class Catalog(msgspec.Struct, frozen=True, kw_only=True):
    """The whole table."""

    checked: date
    presets: dict[str, Preset]

    def named(self, name: str) -> tuple[Preset | None, str]:
        """Return whose a model is and what its provider calls it.

        `groq/llama-3.3-70b-versatile` names the provider; `claude-opus-5-5` begins like one's own.
        The provider is None where a name tells nothing of it.
        """
        head, slash, rest = name.partition("/")
        if slash and rest and head in self.presets:
            return self.presets[head], rest
        for preset in self.presets.values():
            if name.startswith(preset.prefixes):
                return preset, name
        return None, name

    def at(self, base_url: str) -> Preset | None:
        """Return the provider whose host an address names; of this machine's, by the port too."""
        try:
            host = (urlsplit(base_url).hostname or "").lower()
        except ValueError:
            # An address that is none, such as one with half of an IPv6 address.
            return None
        for preset in self.presets.values():
            if preset.local:
                ports = {_port(one) for one in preset.addresses}
                if host in {"127.0.0.1", "localhost", "::1"} and _port(base_url) in ports:
                    return preset
            elif host and host == preset.host:
                return preset
        return None

    def current(self, name: str, today: date | None = None) -> tuple[str, str]:
        """Return the name to ask for, and a notice for the operator where it is another one."""
        day = today or datetime.now(UTC).date()
        preset, model = self.named(name)
        if preset is None:
            return name, ""
        asked = model
        for _ in range(_MAX_HOPS):
            gone = preset.retired.get(asked)
            retirement = Retirement(successor=gone) if isinstance(gone, str) else gone
            if retirement is None or (retirement.on is not None and retirement.on > day):
                break
            asked = retirement.successor
        if asked == model:
            return name, ""
        return name.removesuffix(model) + asked, (
            f"The model {model} has been withdrawn by its provider; {asked} is asked instead. "
            "Set model.name to choose another."
        )

    def ending(self, name: str) -> Retirement | None:
        """Return when a model that can still be asked will be withdrawn; None where not known."""
        preset, model = self.named(name)
        gone = None if preset is None else preset.retired.get(model)
        return gone if isinstance(gone, Retirement) else None


@cache
def catalog() -> Catalog:
    """Return the table that comes along."""
    tables = tomllib.loads(files("agent.models").joinpath(FILE_NAME).read_text(encoding="utf-8"))
    checked = tables.pop("checked")
    presets = {
        name: msgspec.convert({**table, "name": name}, Preset) for name, table in tables.items()
    }
    return Catalog(checked=checked, presets=presets)


def facts_of(name: str, base_url: str = "") -> ModelFacts:
    """Return what is known of a model.

    Args:
        name: as `model.name` has it.
        base_url: where it is asked; empty for the provider that its name tells.
    """
    table = catalog()
    preset = table.at(base_url) if base_url else None
    if preset is None:
        preset, name = table.named(name)
    if preset is not None:
        return preset.facts(name)
    # A name without its provider, as a record of a call has it.
    known = (one.facts(name) for one in table.presets.values() if longest(name, one.models))
    return next(known, ModelFacts())


# --- prices ----------


def load_prices(own: Path | None = None) -> dict[str, Price]:
    """Return prices by model: the table's, by name and by `provider/name`, and the operator's.

    Args:
        own: a TOML file of the operator's prices; it need not exist.

    Raises:
        ConfigError: the operator's file cannot be used.
    """
    prices: dict[str, Price] = {}
    for preset in catalog().presets.values():
        for name, facts in preset.models.items():
            if facts.price is not None:
                prices[f"{preset.name}/{name}"] = facts.price
                prices.setdefault(name, facts.price)
    return {**prices, **own_prices(own)}


def own_prices(own: Path | None) -> dict[str, Price]:
    """Return the operator's own prices by model. Raises ConfigError; a missing file is empty."""
    if own is None:
        return {}
    try:
        with own.open("rb") as file:
            text = file.read(_MAX_BYTES).decode("utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The price table {own} could not be read: {one_line(str(error), 100)}.",
            "Check its mode and that it is UTF-8.",
        ) from error
    return dict(_read_prices(text, str(own)))


def price_of(name: str, prices: Mapping[str, Price]) -> Price | None:
    """Return the price of a model by its name, or by the name that a dated one begins with."""
    return prices.get(longest(name, prices))


def longest(name: str, known: Mapping[str, object]) -> str:
    """Return the known name that this is, or is a dated or tagged one of; empty for neither."""
    if name in known:
        return name
    dated = [one for one in known if name.startswith((f"{one}-", f"{one}@", f"{one}:"))]
    return max(dated, key=len, default="")


def _read_prices(text: str, where: str) -> Iterator[tuple[str, Price]]:
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{where} is not TOML: {one_line(str(error), 200)}.") from error
    for name, table in tables.items():
        try:
            price = msgspec.convert(table, Price, strict=False)
        except msgspec.ValidationError as error:
            raise ConfigError(
                f"{where}: the price of {one_line(name, 60)} cannot be used: {error}.",
                'Write it as ["model-name"] with input, output and, if you like, cached_input and '
                "cache_write.",
            ) from error
        if price.lowest < 0:
            raise ConfigError(f"{where}: a price of {one_line(name, 60)} is below zero.")
        yield name, price


def _port(url: str) -> int | None:
    try:
        return urlsplit(url).port
    except ValueError:
        return None
