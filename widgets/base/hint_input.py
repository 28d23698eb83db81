"""What an empty field says; "…" shows that it goes on, as a hint that is cut off reads as whole."""

from typing import Any

from textual.content import Content
from textual.events import Resize
from textual.widgets import Input


def fitted(hint: str, cells: int) -> str:
    """Shorten a hint to the width of its field; one that has no width yet is left as it is."""
    return Content(hint).truncate(cells, ellipsis=True).plain if cells > 0 else hint


class HintInput(Input):
    """One line with a hint.

    Args:
        hint: what it says while it is empty.
    """

    def __init__(self, value: str | None = None, *, hint: str, **options: Any) -> None:
        super().__init__(value, placeholder=hint, **options)
        self._hint = hint

    @property
    def hint(self) -> str:
        """What it says while it is empty."""
        return self._hint

    @hint.setter
    def hint(self, hint: str) -> None:
        self._hint = hint
        self._fit()

    def on_resize(self, _event: Resize) -> None:
        self._fit()

    def _fit(self) -> None:
        self.placeholder = fitted(self._hint, self.content_size.width)
