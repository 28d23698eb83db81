"""Say what is known of a model at its endpoint, and how: for people, who choose by it.

Not the asking. Pure. Invariant: what nobody has said or tried is so named, never guessed.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from agent.models.endpoint import Endpoint, Provider
from agent.models.windows import UNKNOWN_WINDOW, context_window
from agent.models.wires.calls import OUTPUT_TOKENS
from agent.models.wires.constrained import OUTPUT_TOKENS as CALL_TOKENS
from agent.models.wires.constrained import CallForm
from agent.models.wires.offers import Offer
from agent.models.wires.traits import Noted, Source, Trait, Value
from agent.settings import ConstrainedCalls, ModelSettings, Wire

_FIELDS = {
    Trait.WINDOW: "window",
    Trait.VISION: "pictures",
    Trait.TOOLS: "tools",
    Trait.REQUIRED: "required",
    Trait.SCHEMA: "schema",
    Trait.PARALLEL: "parallel",
    Trait.MAX_ANSWER: "max_answer",
}
"""Where an offer has each trait."""


class Known(NamedTuple):
    """One thing that is known of a model."""

    trait: Trait
    value: Value | None
    """None: unknown."""
    how: str
    """How it is known."""
    said: str = ""
    """The endpoint's own words, where it refused it."""


def known_of(
    endpoint: Endpoint, settings: ModelSettings, offer: Offer, notes: Mapping[str, Noted]
) -> tuple[Known, ...]:
    """Return what is known of an endpoint's model: one row for each trait.

    The operator's word comes first, then what the endpoint says now, what calls have shown, and
    the table of known providers.

    Args:
        offer: what the endpoint says.
        notes: what calls have taught, by trait.
    """
    return tuple(_known(one, endpoint, settings, offer, notes) for one in Trait)


def _known(
    trait: Trait,
    endpoint: Endpoint,
    settings: ModelSettings,
    offer: Offer,
    notes: Mapping[str, Noted],
) -> Known:
    set_ = _set(trait, settings)
    if set_ is not None:
        return Known(trait, set_, f"{Source.SETTING.value} {set_name(trait)}")
    field = _FIELDS.get(trait, "")
    if field in offer.said_in:
        return Known(trait, getattr(offer, field), f"asked by {offer.said_in[field]}")
    noted = notes.get(trait.value)
    if noted is not None:
        return Known(trait, noted.value, f"{noted.source}, {noted.on}", noted.said)
    for value, source in _before_any_call(trait, endpoint):
        return Known(trait, value, source.value)
    return Known(trait, None, Source.UNTRIED.value)


def _set(trait: Trait, settings: ModelSettings) -> Value | None:
    match trait:
        case Trait.WINDOW if settings.context_window:
            return settings.context_window
        case Trait.MAX_ANSWER if settings.max_output_tokens:
            return settings.max_output_tokens
        case Trait.VISION if not settings.vision:
            return False
        case _:
            return None


def set_name(trait: Trait) -> str:
    """Return the setting that says something of a trait."""
    return {
        Trait.WINDOW: "model.context_window",
        Trait.MAX_ANSWER: "model.max_output_tokens",
        Trait.VISION: "model.vision",
    }[trait]


def _before_any_call(trait: Trait, endpoint: Endpoint) -> Iterator[tuple[Value, Source]]:
    """Yield what is known without the endpoint: of its provider, or what is taken for granted."""
    facts, row = endpoint.facts, endpoint.row
    by_name = context_window(endpoint.model)
    match trait:
        case Trait.WINDOW if facts.window or by_name != UNKNOWN_WINDOW:
            yield facts.window or by_name, Source.CATALOGUE
        case Trait.WINDOW:
            yield UNKNOWN_WINDOW, Source.DEFAULT
        case Trait.VISION if facts.vision is not None:
            yield facts.vision, Source.CATALOGUE
        case Trait.MAX_ANSWER:
            yield OUTPUT_TOKENS, Source.DEFAULT
        case Trait.REQUIRED if "required" in endpoint.without:
            yield False, Source.CATALOGUE
        case Trait.CALL_IDS:
            is_named = row is not None and row.call_ids != "usual"
            yield endpoint.call_ids.value, Source.CATALOGUE if is_named else Source.DEFAULT
        case Trait.SCHEMA if endpoint.provider in {Provider.OPENAI, Provider.AZURE}:
            yield True, Source.CATALOGUE
        case _:
            pass


def form_of(endpoint: Endpoint, settings: ModelSettings, offer: Offer) -> tuple[CallForm, str]:
    """Return how a session's first call is asked for, and why."""
    chosen = settings.constrained_calls
    if endpoint.wire is not Wire.CHAT or chosen is ConstrainedCalls.OFF:
        return CallForm.OFFERED, ""
    if chosen is ConstrainedCalls.ON:
        return CallForm.CONSTRAINED, "model.constrained_calls is on"
    if offer.tools is False:
        form = CallForm.WRITTEN if offer.schema is False else CallForm.CONSTRAINED
        return form, f"{offer.said_in['tools']} says that it takes no tools"
    return CallForm.OFFERED, ""


def form_words(form: CallForm, why: str) -> str:
    """Return how calls are asked for, in words."""
    if form is CallForm.OFFERED:
        return "by tools"
    if form is CallForm.WRITTEN:
        return f"as text ({why})"
    return f"by a JSON schema, at most {CALL_TOKENS:,} tokens each ({why})"
