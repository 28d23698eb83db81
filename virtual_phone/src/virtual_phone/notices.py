"""What a phone tells its owner without being asked: toasts, notifications and the shade.

Not what they open. Invariant: a notification takes the place of the one with its id.
"""

from __future__ import annotations

from virtual_phone.core import TOAST_S, Core
from virtual_phone.state.records import Notice

HEADS_UP_S = 5.0


class Notices(Core):
    """Show toasts, keep notifications, open and close the shade."""

    heads_up: Notice | None = None
    """The notification that has just come and stands over the screen."""

    def toast(self, text: str) -> None:
        """Show a short message for a few seconds."""
        self.toast_text = self.last_toast = text
        self.toasts_shown += 1
        self.invalidate()

        def over() -> None:
            if self.toast_text == text:
                self.toast_text = ""
                self._forget_scenes()

        self.after(TOAST_S, over)

    def notify(self, notice: Notice) -> None:
        """Put a notification in the shade, in place of one with the same id."""
        kept = [n for n in self.state_record.notices if n.id != notice.id]
        self.state_record.notices = [notice, *kept]
        if self._pops_up():
            self.heads_up = notice

            def over() -> None:
                if self.heads_up is notice:
                    self.heads_up = None

            self.after(HEADS_UP_S, over)
        self.invalidate()

    def _pops_up(self) -> bool:
        s = self.settings
        return (
            self.screen_on
            and not self.locked
            and s.flag("global", "heads_up_notifications_enabled")
            and not s.flag("global", "zen_mode")
        )

    def notices(self) -> list[Notice]:
        """Return the notifications, the newest first."""
        return list(self.state_record.notices)

    def dismiss_notice(self, notice_id: int) -> None:
        """Take a notification away."""
        self.state_record.notices = [n for n in self.state_record.notices if n.id != notice_id]
        if self.heads_up is not None and self.heads_up.id == notice_id:
            self.heads_up = None
        self.invalidate()

    def close_shade(self) -> bool:
        """Close the shade; return whether it was open."""
        was = bool(self.shade)
        self.shade = ""
        self.invalidate()
        return was

    def expand_shade(self, expanded: bool) -> None:
        """Show all quick settings, or the notifications."""
        self.shade = "quick_settings" if expanded else "notifications"
        self.invalidate()
