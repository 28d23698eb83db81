"""What an endpoint may be able to do, and how it is known that it is.

Not the asking (`agent.models.wires.offers`). Pure.
"""

from collections.abc import Iterator
from datetime import date
from enum import StrEnum
from typing import Protocol

import msgspec

from agent.models.wires.constrained import CallForm

Value = bool | int | str


class Trait(StrEnum):
    """What differs between endpoints, and between the models of one."""

    WINDOW = "window"
    VISION = "vision"
    TOOLS = "tools"
    REQUIRED = "required choice"
    SCHEMA = "JSON schema"
    PARALLEL = "parallel calls"
    STREAMING = "streaming"
    CALL_IDS = "call ids"
    MAX_ANSWER = "max answer"


class Source(StrEnum):
    """How something is known, where no page of the endpoint says it."""

    SETTING = "setting"
    ANSWER = "an answer"
    REFUSAL = "a refusal"
    CATALOGUE = "catalogue"
    DEFAULT = "default"
    UNTRIED = "never tried"


class Noted(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a call has taught."""

    value: Value
    source: Source
    on: date
    said: str = ""
    """The endpoint's own words."""


class Notes(Protocol):
    """Keep what calls teach about one model of one endpoint."""

    def __call__(self, trait: Trait, value: Value, source: Source, said: str = "") -> None: ...


def no_notes(trait: Trait, value: Value, source: Source, said: str = "") -> None:
    """Keep nothing."""


_LEFT_OUT = {"pictures": Trait.VISION, "required": Trait.REQUIRED, "limit": Trait.MAX_ANSWER}
"""What a yes-or-no field of a dialect means once it is no."""
_FORMS = {CallForm.OFFERED: Trait.TOOLS, CallForm.CONSTRAINED: Trait.SCHEMA}


def refused_between(before: object, after: object) -> Iterator[tuple[Trait, Value]]:
    """Yield what an endpoint refused, given the dialects before and after that."""
    for name, trait in _LEFT_OUT.items():
        if getattr(before, name, False) and not getattr(after, name, True):
            yield trait, False
    form = getattr(before, "calls", None)
    if form is not None and form is not getattr(after, "calls", None):
        yield _FORMS[form], False
    ids = getattr(after, "call_ids", None)
    if ids is not getattr(before, "call_ids", None):
        yield Trait.CALL_IDS, str(ids)
