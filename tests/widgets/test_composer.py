"""The composer: what enter sends is what stood there when it was pressed."""

from textual.app import App, ComposeResult
from textual.events import Key, Paste

from tests.console.waiting import wait_for
from widgets.questions.composer import MOST_CHARS, Composer, Mode, Purpose


class Desk(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []
        self.refused: list[str] = []

    def compose(self) -> ComposeResult:
        yield Composer()

    def on_composer_sent(self, event: Composer.Sent) -> None:
        self.sent.append(event.text)

    def on_composer_refused(self, event: Composer.Refused) -> None:
        self.refused.append(event.reason)


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


async def test_more_than_a_goal_may_have_is_not_pasted_and_that_is_said() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        composer = app.query_one(Composer)
        composer.aim(Purpose(Mode.NEW, ""))
        composer.field.focus()
        await pilot.press(*"open")
        app.post_message(Paste("x" * MOST_CHARS))
        await pilot.pause()
        assert composer.text == "open"
        assert app.refused == [
            "Nothing was pasted: it has 20,000 characters, and here is room for 20,000."
        ]
        app.post_message(Paste(" maps"))
        await pilot.pause()
        assert composer.text == "open maps"


async def test_a_handle_that_may_be_several_names_them_until_more_is_typed() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        composer = app.query_one(Composer)
        phones = ["@pixel-4", "@pixel-5"]
        composer.handles = lambda word: [one for one in phones if one.startswith(word)]
        composer.aim(Purpose(Mode.NEW, ""))
        composer.offer([("", "any free device")])
        composer.field.focus()

        def label() -> str:
            return str(composer.query_one("#composer-label").render())

        await pilot.press("@", "p", "tab")
        assert composer.text == "@pixel-"
        assert "@pixel-4  @pixel-5" in label()
        await pilot.press("5")
        assert "any free device" in label()
        await pilot.press(*"x #n", "tab")
        assert "no tag of a phone starts with #" in label()


async def test_a_hint_that_has_no_room_says_that_it_goes_on() -> None:
    app = Desk()
    async with app.run_test(size=(90, 20)) as pilot:
        composer = app.query_one(Composer)
        composer.aim(Purpose(Mode.NEW, ""))
        await pilot.pause()
        for columns, end in ((90, "^o for one app"), (55, "#tag, ^o…"), (90, "^o for one app")):
            await pilot.resize_terminal(columns, 20)
            await wait_for(
                pilot, lambda end=end: str(composer.field.placeholder).endswith(end), end
            )
