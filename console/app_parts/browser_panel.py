"""Tell the page around a console in a browser which phone is looked at.

The panel is the page's own (`console.web`), and knows nothing of the console. Its phone is the one
that the console shows: of the card, of the selected session, or of the Device screen.
"""

from urllib.parse import quote

from textual.app import App

ADDRESS = "#phone="
"""What the address begins with that the page takes as a message; nothing is opened for it."""


class BrowserPanel:
    """The panel beside one console.

    Args:
        app: the console; in a terminal there is no panel, and nothing is told.
    """

    def __init__(self, app: "App[int]") -> None:
        self._app = app
        self._told = ""

    def show(self, serial: str) -> None:
        """Show the phone that is looked at here."""
        if serial and serial != self._told and self._app.is_web:
            self._told = serial
            self._app.open_url(f"{ADDRESS}{quote(serial, safe='')}", new_tab=False)
