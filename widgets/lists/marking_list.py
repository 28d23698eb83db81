"""A list of rows that the mouse marks: with ctrl one, with shift a range."""

from textual.events import Click
from textual.message import Message

from widgets.base.row_list import RowList


class MarkingList(RowList):
    """Rows that can be marked; which are is the console's business."""

    class Marked(Message):
        """A row was clicked to be marked; `since` is the row that a range begins at."""

        def __init__(self, key: str, *, since: str = "") -> None:
            super().__init__()
            self.key = key
            self.since = since

    _clicked = ""  # The row that was clicked last, in whichever way.

    def on_click(self, event: Click) -> None:
        key = self.meant_at(event.get_content_offset_capture(self).y)
        if key and (event.ctrl or event.shift):
            # The base would move the cursor, or open the row.
            event.prevent_default()
            # As lists do everywhere: from the row that was clicked before, else from the cursor.
            since = (self._clicked or self.cursor_key or key) if event.shift else ""
            self.post_message(self.Marked(key, since=since))
        self._clicked = key
