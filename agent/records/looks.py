"""Define what an operator inspects on a phone: elements and findings. Never stored."""

from agent.records.devices import Foreground
from agent.records.observation import Element
from agent.records.record import Record


class PhoneLook(Record, frozen=True, kw_only=True):
    """The elements of a screen at one moment, numbered as a model would see them."""

    serial: str
    at_ms: int
    foreground: Foreground
    elements: tuple[Element, ...] = ()
    note: str = ""
    """Why there are no elements, or what they were read from where the tree says little."""


class PhoneFinding(Record, frozen=True, kw_only=True):
    """One thing that was examined on a phone."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""  # What to do about it; empty when it is fine.
    can_repair: bool = False  # Whether the core can put it right itself.
