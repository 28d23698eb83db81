"""Judge what a text does to what a field holds: stored content that would be overwritten."""

import re

from agent.records import EffectVerb, Element
from agent.safety.effects.acts import Act
from agent.safety.effects.context import Context
from agent.safety.effects.finding import Finding
from agent.safety.effects.flow import field_name
from agent.safety.effects.lexicon import Meaning, read
from agent.safety.effects.page import Page
from agent.safety.effects.structure.fields import is_amount, is_composer, is_search
from agent.safety.words import id_words, words

_SHORT_NUMBER = re.compile(r"\d{0,3}")
_ATOMIC = re.compile(r"[\d\s()+./:-]{4,}|\S+@\S+|https?://\S+")
"""What is one value: a number, a date, an address. More text makes another value of it."""
_ATOMIC_IDS = frozenset(
    {"phone", "number", "email", "mail", "iban", "account", "date", "time", "birthday", "zip"}
)


def find_overwrite(act: Act, page: Page, context: Context) -> Finding | None:
    """Find that a text replaces what a person stored; None: it does not."""
    field = act.element
    if field is None or not is_stored(field, page, context):
        return None
    if act.clear or context.flow.selected_all:
        return overwrites(field)
    atomic = _ATOMIC.fullmatch(field.value.strip()) or (
        set(id_words(field.resource_id)) & _ATOMIC_IDS and "\n" not in field.value
    )
    return overwrites(field) if atomic and act.text.strip() else None


def overwrites(field: Element) -> Finding:
    """Return that the content of a field would be overwritten."""
    return Finding(
        EffectVerb.OVERWRITE,
        f'"{field.value[:60]}" is stored there and would be overwritten',
        element=field,
    )


def is_stored(field: Element, page: Page, context: Context) -> bool:
    """Return whether a field holds what somebody stored, and not what this session typed."""
    value = field.value.strip()
    if not value or field.password or _SHORT_NUMBER.fullmatch(value):
        return False
    if page.is_dialog or is_search(field) or is_composer(field):
        # A dialog proposes a name; a search and a draft are nobody's record.
        return False
    if is_amount(field) or page.is_calculator:
        return False
    first = min(page.fields, key=lambda e: e.bounds.top, default=field)
    if _names_new(page.title) and _is_ours(first, context):
        # What has no name yet is not stored: the app proposes the rest, as a new event's date.
        return False
    return not _is_ours(field, context)


def _names_new(title: str) -> bool:
    """Return whether a title is that of a form for what does not exist yet."""
    said = words(title)
    # Word by word: "New message" and "Create account" are phrases of their own.
    ends = {meaning for word in (*said[:1], *said[-1:]) for meaning in read(word).whole}
    return Meaning.NEW in ends | read(title).head


def _is_ours(field: Element, context: Context) -> bool:
    """Return whether a field holds nothing but what this session typed."""
    value = field.value.strip()
    typed = context.flow.typed.get((field.package, field_name(field)), "").strip()
    return value in typed
