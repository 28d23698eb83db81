"""Define who wrote a text, and mark the author wherever the text is displayed.

Invariant: no line by a model or a phone reads as if Switchboard had written it.
"""

from enum import StrEnum


class Speaker(StrEnum):
    """Who wrote a text."""

    PRODUCT = "product"  # Switchboard.
    OPERATOR = "operator"
    MODEL = "model"
    PHONE = "phone"  # An app, a page or a notification on a phone.


_SAYS = {Speaker.MODEL: "The agent says:", Speaker.PHONE: "The phone says:"}
_ASKS = {Speaker.MODEL: "The agent asks:", Speaker.PHONE: "The phone asks:"}


def attributed(text: str, speaker: Speaker, *, asks: bool = False) -> str:
    """Return a text with its speaker, marking every further line as the same speaker's."""
    opening = (_ASKS if asks else _SAYS).get(speaker, "")
    if not opening or not text.strip():
        return text
    first, *rest = text.strip().split("\n")
    return "\n".join([f"{opening} {first}", *(f"> {line}".rstrip() for line in rest)])
