"""What a phone tells its owner without being asked: toasts, notifications and the shade.

Not what they open. Invariant: a notification takes the place of the one with its id.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from virtual_phone.state.records import Notice

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

TOAST_S = 2.5
HEADS_UP_S = 5.0


class Toasts:
    """The short messages of one phone."""

    def __init__(self, phone: "Phone") -> None:
        self._phone = phone
        self.shown = ""
        """The message on the screen; empty where there is none."""
        self.last = ""
        self.count = 0
        """How many there were; an accessibility service hears of each."""

    def show(self, text: str) -> None:
        """Show a short message for a few seconds."""
        self.shown = self.last = text
        self.count += 1
        self._phone.invalidate()

        def over() -> None:
            if self.shown == text:
                self.shown = ""
                self._phone.compositor.forget()

        self._phone.after(TOAST_S, over)


class Notifications:
    """The notifications of one phone."""

    def __init__(self, phone: "Phone") -> None:
        self._phone = phone
        self.heads_up: Notice | None = None
        """The one that has just come and stands over the screen."""

    def all(self) -> list[Notice]:
        """Return the notifications, the newest first."""
        return list(self._phone.state_record.notices)

    def post(self, notice: Notice) -> None:
        """Put a notification in the shade, in place of one with the same id."""
        record = self._phone.state_record
        record.notices = [notice, *(n for n in record.notices if n.id != notice.id)]
        if self._pops_up():
            self.heads_up = notice

            def over() -> None:
                if self.heads_up is notice:
                    self.heads_up = None

            self._phone.after(HEADS_UP_S, over)
        self._phone.invalidate()

    def dismiss(self, notice_id: int) -> None:
        """Take a notification away."""
        record = self._phone.state_record
        record.notices = [n for n in record.notices if n.id != notice_id]
        if self.heads_up is not None and self.heads_up.id == notice_id:
            self.heads_up = None
        self._phone.invalidate()

    def _pops_up(self) -> bool:
        settings, power = self._phone.settings, self._phone.power
        return (
            power.screen_on
            and not power.locked
            and settings.flag("global", "heads_up_notifications_enabled")
            and not settings.flag("global", "zen_mode")
        )


class Shade:
    """The notification shade of one phone.

    Args:
        changed: called when it opens or closes.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self.shown = ""
        """"" closed, "notifications" or "quick_settings"."""

    def close(self) -> bool:
        """Close the shade; return whether it was open."""
        was = bool(self.shown)
        self.shown = ""
        self._changed()
        return was

    def open(self, *, expanded: bool) -> None:
        """Show all quick settings, or the notifications."""
        self.shown = "quick_settings" if expanded else "notifications"
        self._changed()
