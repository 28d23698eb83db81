"""The clipboard of a phone."""

from typing import TYPE_CHECKING

from virtual_phone.well_formed import well_formed

if TYPE_CHECKING:
    from virtual_phone.phone import Phone


class Clipboard:
    """The text that was copied last."""

    def __init__(self, phone: "Phone") -> None:
        self._phone = phone

    @property
    def text(self) -> str:
        return self._phone.state_record.clipboard

    def set(self, text: str) -> None:
        self._phone.state_record.clipboard = well_formed(text)
        self._phone.invalidate()
