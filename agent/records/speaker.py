"""Whose words a text is, and how it is marked wherever it is shown.

Invariant: no line of a model's or a phone's words reads as if Switchboard had written it.
"""

from __future__ import annotations

from enum import StrEnum


class Speaker(StrEnum):
    """Who wrote a text."""

    PRODUCT = "product"
    """Switchboard."""
    OPERATOR = "operator"
    MODEL = "model"
    PHONE = "phone"
    """An app, a page or a notification on a phone."""


_SAYS = {Speaker.MODEL: "The agent says:", Speaker.PHONE: "The phone says:"}
_ASKS = {Speaker.MODEL: "The agent asks:", Speaker.PHONE: "The phone asks:"}


def attributed(text: str, speaker: Speaker, *, asks: bool = False) -> str:
    """Return a text with its speaker, each further line marked as the same one's words."""
    opening = (_ASKS if asks else _SAYS).get(speaker, "")
    if not opening or not text.strip():
        return text
    first, *rest = text.strip().split("\n")
    return "\n".join([f"{opening} {first}", *(f"> {line}".rstrip() for line in rest)])
