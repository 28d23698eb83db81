"""What the phone panel of the page and its socket say to each other, as JSON.

Invariant: what a browser sends is decoded strictly, so a message of another form is refused by
name and never acted on.
"""

from typing import TypeAlias

import msgspec

from agent.protocol import WheelGesture
from agent.records import FrameStatus

MOST_PX = 4096  # The most pixels a side that a browser may ask for.


class _FromPage(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """Base of what the page sends."""


class Show(_FromPage, frozen=True, tag="show"):
    """Show a phone, no larger than this many device pixels; an empty serial shows none."""

    serial: str
    width_px: int
    height_px: int


class Shown(_FromPage, frozen=True, tag="shown"):
    """The frame with this number was drawn: the next one may come."""

    number: int


class Take(_FromPage, frozen=True, tag="take"):
    """Take the wheel of the phone that is shown."""


class HandBack(_FromPage, frozen=True, tag="hand_back"):
    """Hand the wheel back, with a note for the session."""

    note: str = ""


class Act(_FromPage, frozen=True, tag="act"):
    """Act on the phone that is shown."""

    gesture: WheelGesture


FromPage: TypeAlias = Show | Shown | Take | HandBack | Act


class _ToPage(msgspec.Struct, frozen=True, tag_field="type"):
    """Base of what the page is sent."""


class PhoneRow(msgspec.Struct, frozen=True):
    """One phone of the picker."""

    serial: str
    name: str
    state: str
    driver: str  # Who acts on it: a session id, "operator", or empty.


class Phones(_ToPage, frozen=True, tag="phones"):
    """All phones, in the order of their names."""

    phones: tuple[PhoneRow, ...]
    may_drive: bool


class Picture(_ToPage, frozen=True, tag="picture"):
    """What is known of a frame; its bytes follow as the next binary message, if it has any."""

    number: int
    serial: str
    status: FrameStatus
    detail: str
    age_ms: int
    has_bytes: bool


class Wheel(_ToPage, frozen=True, tag="wheel"):
    """Whether this page holds the wheel of the phone that is shown."""

    held: bool


class Problem(_ToPage, frozen=True, tag="problem"):
    """Something failed: what, and what to do."""

    message: str
    remedy: str


ToPage: TypeAlias = Phones | Picture | Wheel | Problem

from_page = msgspec.json.Decoder(FromPage)
to_page = msgspec.json.Encoder()
