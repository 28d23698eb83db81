"""The composer: what enter sends is what stood there when it was pressed."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.events import Key

from widgets.composer import Composer, Mode, Purpose


class Desk(App[None]):
    """A composer alone."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []

    def compose(self) -> ComposeResult:
        yield Composer()

    def on_composer_sent(self, event: Composer.Sent) -> None:
        self.sent.append(event.text)


async def test_a_key_that_follows_enter_at_once_is_not_part_of_what_was_sent() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        composer = app.query_one(Composer)
        composer.aim(Purpose(Mode.NEW, ""))
        composer.field.focus()
        await pilot.press(*"open", "space", *"maps")
        # As a terminal brings them: both before anything else is done.
        composer.field.post_message(Key("enter", "\r"))
        composer.field.post_message(Key("p", "p"))
        await pilot.pause()
        assert app.sent == ["open maps"]
