"""What a field of a screen takes, by its name and its label, whatever stands in it."""

from agent.records import Element
from agent.safety.effects.amounts import amounts, is_number
from agent.safety.effects.lexicon import Meaning, read
from agent.safety.words import id_words, words

_ID_AMOUNT = frozenset({"amount", "sum", "price", "value", "total", "tip"})
_ID_MESSAGE = frozenset(
    {
        *("message", "compose", "composer", "comment", "reply", "chat", "review", "caption"),
        *("tweet", "post", "sms", "status", "feedback"),
    }
)
_ID_RECIPIENT = frozenset(
    {"to", "cc", "bcc", "recipient", "recipients", "payee", "beneficiary", "iban"}
)
_ID_SEARCH = frozenset({"search", "query", "find", "filter", "url", "omnibox", "address"})


def is_search(field: Element) -> bool:
    """Return whether a field's text is looked for, not kept."""
    if set(id_words(field.resource_id)) & _ID_SEARCH:
        return True
    return bool(read(field.label).head & {Meaning.SEARCH})


def is_amount(field: Element) -> bool:
    """Return whether a field takes an amount of money."""
    if set(id_words(field.resource_id)) & _ID_AMOUNT:
        return True
    if Meaning.AMOUNT in read(field.label).found:
        return True
    return bool(amounts(field.label)) or (field.label.strip(" 0.,") == "" and "0" in field.label)


def is_stake(field: Element) -> bool:
    """Return whether a field takes what is paid or offered, by its words or its page's."""
    return is_amount(field) or (is_number(field.value) and Meaning.MONEY in read(field.label).found)


def is_recipient(field: Element) -> bool:
    """Return whether a field takes whom something goes to."""
    ids = set(id_words(field.resource_id))
    if ids & _ID_RECIPIENT:
        return True
    return bool(read(field.label).whole & {Meaning.RECIPIENT}) or bool(
        {Meaning.RECIPIENT} & read(field.label).head and len(words(field.label)) <= 2
    )


def is_composer(field: Element) -> bool:
    """Return whether a field takes a message to other people."""
    if is_search(field) or field.password:
        return False
    ids = set(id_words(field.resource_id)) & _ID_MESSAGE
    return bool(ids) or Meaning.MESSAGE in read(field.label).found
